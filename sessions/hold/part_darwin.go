package hold

// part has nothing to keep: there are no keyrings.
func (u *User) part() {}
