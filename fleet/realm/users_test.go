package realm

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

func TestTenant(t *testing.T) {
	account, _ := nkeys.CreateAccount()
	signing, _ := nkeys.CreateAccount()
	someone, _ := nkeys.CreateUser()
	for name, c := range map[string]struct{ text, account, issuer string }{
		"the account's own key":              {seed(account), public(account), ""},
		"with its public key":                {seed(account) + "\n" + public(account) + "\n", public(account), ""},
		"a signing key":                      {"# berth\n" + seed(signing) + "\r\n" + public(account), public(account), public(account)},
		"nothing":                            {},
		"a comment":                          {text: "# none\n"},
		"a public key":                       {text: public(account)},
		"a user's key":                       {text: seed(someone)},
		"a signing key for a user":           {text: seed(signing) + "\n" + public(someone)},
		"three lines":                        {text: seed(signing) + "\n" + public(account) + "\nmore"},
		"the seed of a signing key, damaged": {text: seed(signing)[1:] + "\n" + public(account)},
	} {
		u, err := Tenant(c.text)
		if c.account == "" {
			if !errors.Is(err, ErrAccount) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || u.Account() != c.account {
			t.Errorf("%s: %v, account %s", name, err, u.Account())
			continue
		}
		until := time.Now().Add(time.Minute)
		text, err := u.Invited("id", public(someone), until)
		if err != nil {
			t.Fatal(err)
		}
		claims, err := jwt.DecodeUserClaims(text)
		if err != nil || claims.IssuerAccount != c.issuer || claims.Expires != until.Unix() || claims.BearerToken {
			t.Errorf("%s: %+v, %v", name, claims, err)
		}
	}
}
