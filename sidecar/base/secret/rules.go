package secret

import (
	"cmp"
	"slices"
)

// rule is a kind of secret.
type rule struct {
	id string
	// description is for the person. It starts with an article.
	description string
	// literals are the beginnings of the secret, or of its name; each has at least three bytes.
	literals []string
	find     finder
	// entropy is the minimum entropy of the secret, in bits per byte. Invented examples have less.
	entropy float64
	// not reports texts that are not secrets although they match; nil means [isPlaceholder].
	not func(secret string) bool
}

// table returns the rules. Most are from gitleaks v8.30.1, config/gitleaks.toml (MIT, Copyright (c) 2019
// Zachary Rice; see LICENSE.gitleaks). Only rules that recognise a secret on its own are included. They
// are changed in two ways: each begins with a literal, and any byte that is not part of a word may follow
// a secret, because in prose a full stop or a bracket does. Those marked "own" were written after the
// services' documentation.
//
// If two rules find the same text, the earlier one names it.
func table() []rule {
	return []rule{
		{"aws-access-token", "an AWS access key", []string{"AKIA", "ASIA", "ABIA", "ACCA"}, pattern(`[A-Z]{4}[A-Z2-7]{16}`), 3, nil},
		{
			"aws-secret-key", "an AWS secret key", // own
			[]string{"aws_secret", "AWS_SECRET", "awsSecret", "secret_access_key", "SECRET_ACCESS_KEY", "secretAccessKey", "SecretAccessKey"},
			pattern(`(?i:(?:aws_?)?secret_?(?:access_?)?key)[\\"']{0,4}\s{0,4}[:=>]{1,2}\s{0,4}[\\"']{0,4}([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|\z)`), 4, nil,
		},
		{"aws-bedrock-api-key", "an API key of Amazon Bedrock", []string{"ABSK"}, pattern(`ABSK[A-Za-z0-9+/]{109,}={0,2}`), 3, nil},
		{"azure-ad-client-secret", "a client secret of Microsoft Entra ID", digits("Q~"), behind(isAzure, 3, 3, `\dQ~[a-zA-Z0-9_~.-]{31,34}`), 3, nil},
		{"azure-storage-key", "an Azure account key", []string{"AccountKey=", "SharedAccessKey="}, pattern(`\w+=([A-Za-z0-9+/]{42,86}={1,2})`), 4, nil}, // own
		{"gcp-api-key", "a Google API key", []string{"AIza"}, pattern(`AIza[\w-]{35}`), 4, nil},
		{"gcp-client-secret", "a Google OAuth client secret", []string{"GOCSPX-"}, pattern(`GOCSPX-[\w-]{28}`), 3, nil}, // own
		{"gcp-access-token", "a Google OAuth token", []string{"ya29."}, pattern(`ya29\.[\w-]{30,}`), 3.5, nil},          // own
		{"gcp-refresh-token", "a Google OAuth refresh token", []string{"1//0"}, pattern(`1//0[\w-]{40,}`), 3.5, nil},    // own
		{"cloudflare-origin-ca-key", "a Cloudflare origin key", []string{"v1.0-"}, pattern(`v1\.0-[a-f0-9]{24}-[a-f0-9]{146}`), 2, nil},
		{"digitalocean-token", "a DigitalOcean token", []string{"dop_v1_", "doo_v1_", "dor_v1_"}, pattern(`do[por]_v1_[a-f0-9]{64}`), 3, nil},
		{"alibaba-access-key-id", "an Alibaba access key", []string{"LTAI"}, pattern(`LTAI[A-Za-z0-9]{20}`), 3, nil},
		{"flyio-access-token", "a Fly.io token", []string{"fo1_", "fm1a_", "fm1r_", "fm2_"}, pattern(`fo1_[\w-]{43}|fm(?:1[ar]|2)_[a-zA-Z0-9+/]{100,}={0,3}`), 4, nil},
		{"heroku-api-key", "a Heroku API key", []string{"HRKU-AA"}, pattern(`HRKU-AA[0-9a-zA-Z_-]{58}`), 4, nil},
		{"netlify-access-token", "a Netlify token", []string{"nfp_"}, pattern(`nfp_[a-zA-Z0-9]{36}`), 3, nil},                        // own
		{"supabase-key", "a Supabase key", []string{"sbp_", "sb_secret_"}, pattern(`sbp_[a-f0-9]{40}|sb_secret_[\w-]{22,}`), 3, nil}, // own

		{"github-pat", "a GitHub token", []string{"ghp_"}, pattern(`ghp_[0-9a-zA-Z]{36}`), 3, nil},
		{"github-fine-grained-pat", "a GitHub token", []string{"github_pat_"}, pattern(`github_pat_\w{82}`), 3, nil},
		{"github-app-token", "a GitHub app's token", []string{"gho_", "ghu_", "ghs_", "ghr_"}, pattern(`gh[ousr]_[0-9a-zA-Z]{36}`), 3, nil},
		{"gitlab-pat", "a GitLab token", []string{"glpat-"}, pattern(`glpat-[\w-]{20,}`), 3, nil},
		{
			"gitlab-token", "a GitLab token",
			[]string{"glptt-", "glrt-", "gldt-", "glcbt-", "glagent-", "gloas-", "glsoat-", "glft-", "glimt-", "glffct-"},
			pattern(`gl[a-z]{2,6}-[\w-]{20,}`), 3, nil,
		},
		{"atlassian-api-token", "an Atlassian API token", []string{"ATATT3"}, pattern(`ATATT3[A-Za-z0-9_=-]{186}`), 3.5, nil},
		{"linear-api-key", "a Linear API key", []string{"lin_api_"}, pattern(`lin_api_[A-Za-z0-9]{40}`), 2, nil},
		{"npm-access-token", "an npm token", []string{"npm_"}, pattern(`npm_[A-Za-z0-9]{36}`), 3, nil},
		{"pypi-upload-token", "a PyPI token", []string{"pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZw"}, pattern(`pypi-AgE[\w-]{60,}`), 3, nil},
		{"rubygems-api-token", "a RubyGems token", []string{"rubygems_"}, pattern(`rubygems_[a-f0-9]{48}`), 2, nil},
		{"clojars-api-token", "a Clojars token", []string{"CLOJARS_"}, pattern(`CLOJARS_[A-Za-z0-9]{60}`), 2, nil},
		{"docker-pat", "a Docker token", []string{"dckr_pat_", "dckr_oat_"}, pattern(`dckr_[po]at_[\w-]{27,}`), 3, nil}, // own
		{"postman-api-token", "a Postman API key", []string{"PMAK-"}, pattern(`PMAK-[A-Fa-f0-9]{24}-[A-Fa-f0-9]{34}`), 3, nil},
		{"pulumi-api-token", "a Pulumi token", []string{"pul-"}, pattern(`pul-[a-f0-9]{40}`), 2, nil},
		{"hashicorp-tf-api-token", "a Terraform token", []string{".atlasv1."}, behind(isWord, 14, 14, `\.atlasv1\.[A-Za-z0-9_=-]{60,70}`), 3.5, nil},
		{"vault-token", "a Vault token", []string{"hvs.", "hvb."}, pattern(`hvs\.[\w-]{90,120}|hvb\.[\w-]{138,}`), 3.5, nil},
		{"doppler-api-token", "a Doppler token", []string{"dp.pt."}, pattern(`dp\.pt\.[A-Za-z0-9]{43}`), 2, nil},
		{"1password-secret-key", "a 1Password secret key", []string{"A3-"}, pattern(`A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}`), 3.8, nil},
		{"1password-service-account-token", "a 1Password token", []string{"ops_eyJ"}, pattern(`ops_eyJ[a-zA-Z0-9+/]{240,}={0,3}`), 4, nil},
		{"age-secret-key", "an age key", []string{"AGE-SECRET-KEY-1"}, pattern(`AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}`), 3, nil},

		{"anthropic-api-key", "an Anthropic API key", []string{"sk-ant-"}, pattern(`sk-ant-(?:api|admin|oat|ort)\d\d-[\w-]{80,}`), 4, nil},
		{"openai-api-key", "an OpenAI API key", []string{"sk-proj-", "sk-svcacct-", "sk-admin-"}, pattern(`sk-(?:proj|svcacct|admin)-[\w-]{40,}`), 4, nil},
		{"openrouter-api-key", "an OpenRouter API key", []string{"sk-or-v1-"}, pattern(`sk-or-v1-[a-f0-9]{64}`), 3, nil}, // own
		{"huggingface-access-token", "a Hugging Face token", []string{"hf_", "api_org_"}, pattern(`(?:hf|api_org)_[a-zA-Z]{34}`), 3, nil},
		{"groq-api-key", "a Groq API key", []string{"gsk_"}, pattern(`gsk_[a-zA-Z0-9]{52}`), 3.5, nil}, // own
		{"xai-api-key", "an xAI API key", []string{"xai-"}, pattern(`xai-[a-zA-Z0-9]{80}`), 3.5, nil},  // own
		{"perplexity-api-key", "a Perplexity API key", []string{"pplx-"}, pattern(`pplx-[a-zA-Z0-9]{48}`), 4, nil},
		{"replicate-api-token", "a Replicate token", []string{"r8_"}, pattern(`r8_[a-zA-Z0-9]{37}`), 3.5, nil},                                      // own
		{"langsmith-api-key", "a LangSmith API key", []string{"lsv2_pt_", "lsv2_sk_"}, pattern(`lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}`), 3, nil}, // own
		{"tavily-api-key", "a Tavily API key", []string{"tvly-"}, pattern(`tvly-(?:dev-|prod-)?[a-zA-Z0-9]{32}`), 3.5, nil},                         // own
		{"databricks-api-token", "a Databricks token", []string{"dapi"}, pattern(`dapi[a-f0-9]{32}(?:-\d)?`), 3, nil},

		{"slack-bot-token", "a Slack bot's token", []string{"xoxb-"}, pattern(`xoxb-\d{8,14}-[a-zA-Z0-9-]{18,}`), 3, nil},
		{"slack-user-token", "a Slack token", []string{"xoxp-", "xoxa-", "xoxs-", "xoxr-", "xoxe-", "xoxc-", "xoxe.xox"}, pattern(`xox(?:e\.xox)?[pasrecb]-\d[a-zA-Z0-9-]{24,}`), 3, nil},
		{"slack-app-token", "a Slack app's token", []string{"xapp-"}, pattern(`xapp-\d-[A-Z0-9]+-\d+-[a-z0-9]+`), 2, nil},
		{"slack-webhook-url", "a Slack webhook", []string{"hooks.slack.com/"}, pattern(`hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{43,56}`), 3.5, nil},
		{"discord-bot-token", "a Discord bot's token", discordIDs(), pattern(`[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}`), 4, nil},                                                                         // own
		{"discord-webhook-url", "a Discord webhook", []string{"discord.com/api/webhooks/", "discordapp.com/api/webhooks/"}, pattern(`discord(?:app)?\.com/api/webhooks/\d{17,20}/[\w-]{60,68}`), 3.5, nil}, // own
		{"telegram-bot-api-token", "a Telegram bot's token", []string{":AA"}, behind(isDigit, 8, 10, `:AA[\w-]{33}`), 3, nil},
		{"sendgrid-api-token", "a SendGrid API key", []string{"SG."}, pattern(`SG\.[\w-]{22}\.[\w-]{43}`), 3, nil},
		{"sendinblue-api-token", "a Brevo API key", []string{"xkeysib-"}, pattern(`xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}`), 2, nil},
		{"twilio-api-key", "a Twilio API key", before("SK", "0123456789abcdef"), pattern(`SK[0-9a-f]{32}`), 3, nil},

		{"stripe-access-token", "a Stripe key", []string{"sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"}, pattern(`[sr]k_(?:test|live|prod)_[a-zA-Z0-9]{16,}`), 3, nil},
		{"stripe-webhook-secret", "a Stripe webhook's secret", []string{"whsec_"}, pattern(`whsec_[a-zA-Z0-9]{32,}`), 3, nil}, // own
		{"square-access-token", "a Square token", []string{"sq0atp-", "sq0csp-"}, pattern(`sq0(?:atp|csp)-[\w-]{22,60}`), 3, nil},
		{"shopify-access-token", "a Shopify token", []string{"shpat_", "shpca_", "shppa_", "shpss_"}, pattern(`shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}`), 2, nil},
		{"shippo-api-token", "a Shippo token", []string{"shippo_live_", "shippo_test_"}, pattern(`shippo_(?:live|test)_[a-fA-F0-9]{40}`), 2, nil},
		{"easypost-api-token", "an EasyPost key", []string{"EZAK", "EZTK"}, pattern(`EZ[AT]K[A-Za-z0-9]{54}`), 3, nil},
		{"notion-api-token", "a Notion token", []string{"ntn_"}, pattern(`ntn_[0-9]{11}[A-Za-z0-9]{35}`), 4, nil},
		{"figma-token", "a Figma token", []string{"figd_"}, pattern(`figd_[\w-]{40}`), 3.5, nil}, // own
		{"airtable-token", "an Airtable token", []string{"pat"}, pattern(`pat[A-Za-z0-9]{14}\.[a-f0-9]{64}`), 3, nil},
		{"planetscale-token", "a PlanetScale secret", []string{"pscale_tkn_", "pscale_pw_", "pscale_oauth_"}, pattern(`pscale_(?:tkn|pw|oauth)_[\w=-]{32,64}`), 3, nil},
		{"grafana-token", "a Grafana token", []string{"glc_", "glsa_"}, pattern(`glc_[A-Za-z0-9+/]{32,}={0,3}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}`), 3, nil},
		{"sentry-token", "a Sentry token", []string{"sntryu_", "sntrys_eyJ"}, pattern(`sntryu_[a-f0-9]{64}|sntrys_eyJ[a-zA-Z0-9+/=_]{80,}`), 3.5, nil},
		{"dynatrace-api-token", "a Dynatrace token", []string{"dt0c01.", "dt0s16."}, pattern(`dt0[cs]\d\d\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}`), 4, nil},
		{"new-relic-user-api-key", "a New Relic key", []string{"NRAK-"}, pattern(`NRAK-[A-Z0-9]{27}`), 3, nil},
		{"sourcegraph-access-token", "a Sourcegraph token", []string{"sgp_"}, pattern(`sgp_(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}`), 3, nil},

		{"private-key", "a private key", []string{"-----BEGIN"}, privateKey(), 0, nil},
		{"jwt", "a signed token (JWT)", []string{"eyJ"}, jsonWebToken, 3, nil},
		{"sk-api-key", "an API key", []string{"sk-"}, pattern(`sk-[a-zA-Z0-9]{32,64}`), 3.5, isPlain},                                                                        // OpenAI's old form, and similar ones
		{"bearer-token", "a token of an Authorization header", []string{"Bearer ", "bearer "}, pattern(`[Bb]earer ([\w.~+/-]{24,}={0,2})`), 3.5, isPlain},                    // own
		{"url-password", "the password in a URL", []string{"://"}, pattern(`://[^\s/:@"'<>` + "`" + `]{0,64}:([^\s/@"'<>` + "`" + `]{4,128})@[\w.\[-]`), 0, isUsualPassword}, // own
	}
}

// isAzure is the alphabet of Microsoft's client secrets.
func isAzure(c byte) bool { return isWord(c) || c == '~' || c == '.' }

// digits returns a literal for each digit before a text.
func digits(text string) []string {
	var all []string
	for _, digit := range "0123456789" {
		all = append(all, string(digit)+text)
	}
	return all
}

// before returns a literal for each character that may follow a text.
func before(text, characters string) []string {
	var all []string
	for _, c := range characters {
		all = append(all, text+string(c))
	}
	return all
}

// discordIDs returns the base64 prefixes of decimal numbers: a bot's token begins with its id.
func discordIDs() []string {
	var all []string
	for _, two := range []string{"MT", "MD", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"} {
		all = append(all, before(two, "AEIMQUYcgk")...)
	}
	return all
}

// ruleSet is the prepared table. It does not change after it is made.
type ruleSet struct {
	rules    []rule
	literals literals
}

func newRuleSet() *ruleSet {
	s := &ruleSet{rules: table()}
	for i, r := range s.rules {
		for _, text := range r.literals {
			s.literals.add(text, i)
		}
	}
	return s
}

// find returns the findings of the rules; those at the same position in the order of the table.
func (s *ruleSet) find(text string) []Finding {
	type hit struct {
		Finding
		number int
	}
	var hits []hit
	var ends []int // the end of each rule's last finding, within which the rule finds nothing; nil if there is none
	s.literals.each(text, func(at int, found literal) {
		r := &s.rules[found.number]
		if ends != nil && at < ends[found.number] {
			return
		}
		start, end, ok := r.find(text, at)
		if !ok || r.isNone(text[start:end]) {
			return
		}
		end = whole(text, at, end)
		if ends == nil {
			ends = make([]int, len(s.rules))
		}
		ends[found.number] = end
		hits = append(hits, hit{Finding{r.id, r.description, start, end}, found.number})
	})
	if hits == nil {
		return nil
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.number, b.number) })
	findings := make([]Finding, 0, len(hits))
	for _, h := range hits {
		findings = append(findings, h.Finding)
	}
	return findings
}

// isNone reports whether a match is an example.
func (r *rule) isNone(secret string) bool {
	if r.entropy > 0 && entropy(secret) < r.entropy {
		return true
	}
	if r.not != nil {
		return r.not(secret)
	}
	return isPlaceholder(secret)
}
