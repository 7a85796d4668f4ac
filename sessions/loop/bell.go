package loop

// Ring puts a signal into a channel that holds one.
func Ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default: // one signal is enough
	}
}
