package terminal

// tab moves to the next tab stop.
func (t *Terminal) tab(n int) {
	s := t.scr
	if s.x >= t.cols {
		return
	}
	for ; n > 0 && s.x < t.cols-1; n-- {
		s.x = t.nextTab(s.x)
	}
	t.revision++
}

func (t *Terminal) nextTab(x int) int {
	if t.tabs == nil {
		return min(x/8*8+8, t.cols-1)
	}
	for _, stop := range t.tabs {
		if stop > x {
			return min(stop, t.cols-1)
		}
	}
	return t.cols - 1
}

func (t *Terminal) backTab(n int) {
	s := t.scr
	t.cancelWrap()
	for ; n > 0 && s.x > 0; n-- {
		to := 0
		if t.tabs == nil {
			to = (s.x - 1) / 8 * 8
		}
		for _, stop := range t.tabs {
			if stop < s.x {
				to = stop
			}
		}
		s.x = to
	}
	t.revision++
}

// setTab puts or takes a tab stop at col; clearTabs takes all.
func (t *Terminal) setTab(col int, on bool) {
	if t.tabs == nil {
		t.tabs = []int{}
		for c := 8; c < t.cols; c += 8 {
			t.tabs = append(t.tabs, c)
		}
	}
	i := 0
	for i < len(t.tabs) && t.tabs[i] < col {
		i++
	}
	switch present := i < len(t.tabs) && t.tabs[i] == col; {
	case on && !present:
		t.tabs = append(t.tabs[:i], append([]int{col}, t.tabs[i:]...)...)
	case !on && present:
		t.tabs = append(t.tabs[:i], t.tabs[i+1:]...)
	}
}

// clearTab is TBC.
func (t *Terminal) clearTab(how int) {
	switch how {
	case 0:
		t.setTab(min(t.scr.x, t.cols-1), false)
	case 3:
		t.tabs = []int{}
	}
}

// resizeTabs drops the stops beyond a new width, or gives new columns the usual
// ones.
func (t *Terminal) resizeTabs(cols int) {
	if t.tabs == nil {
		return
	}
	for n := len(t.tabs); n > 0 && t.tabs[n-1] >= cols; n-- {
		t.tabs = t.tabs[:n-1]
	}
	for col := (t.cols + 7) / 8 * 8; col < cols; col += 8 {
		t.tabs = append(t.tabs, col)
	}
}
