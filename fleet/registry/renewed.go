package registry

// RenewSubject is below berth.from.HOST. A host shows a pass there, and asks what its person may do now.
const RenewSubject = "renew"

// Renewed is the gateway's answer.
type Renewed struct {
	Pass  []byte `json:"pass,omitempty"`  // a newer one, in SSH's form
	Error string `json:"error,omitempty"` // why the person has no rights any more
	Again bool   `json:"again,omitempty"` // the gateway can't say now
}
