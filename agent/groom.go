package agent

// Groomer is a Driver that knows what may be answered of the dialogs before
// the first composer without asking anybody. It is pure.
type Groomer interface {
	// Groom is the answer to the dialog; ok is false when it is somebody's to
	// give.
	Groom(d *Dialog, p Policy) (a Answer, ok bool)
}

// Policy is what a session lets Berth say yes to.
type Policy struct {
	Trust        bool
	AcceptBypass bool
	Vouched      map[string]string // see Launch
}
