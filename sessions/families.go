package sessions

// Families orders a list so that each comes after its parent, with those below it before the next of its siblings. Parents
// and siblings keep the list's order. A parent outside the list doesn't count.
func Families[T any](list []T, id, parent func(T) string) []T {
	listed := make(map[string]bool, len(list))
	for _, one := range list {
		listed[id(one)] = true
	}
	children := map[string][]T{}
	for _, one := range list {
		if of := parent(one); listed[of] {
			children[of] = append(children[of], one)
		}
	}
	ordered, done := make([]T, 0, len(list)), make(map[string]bool, len(list))
	var add func(one T)
	add = func(one T) {
		if done[id(one)] {
			return
		}
		done[id(one)] = true
		ordered = append(ordered, one)
		for _, child := range children[id(one)] {
			add(child)
		}
	}
	for _, one := range list {
		if !listed[parent(one)] { // otherwise its parent brings it
			add(one)
		}
	}
	for _, one := range list { // a circle, which only a changed file can have
		add(one)
	}
	return ordered
}
