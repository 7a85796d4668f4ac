package hold

// SlackTimers does nothing: there is no such setting here.
func SlackTimers() {}

func withUsualSlack(start func()) { start() }
