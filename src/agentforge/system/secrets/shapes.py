"""What keys, tokens and passwords look like: the table that redaction reads. A service more is a row more.

`BEGINNINGS` are searched by the text that they begin with. `LONG_WORDS` are tried on long words with digits
in them, so that their number costs ordinary text nothing. In both, chance is bounded or possessive.
"""

PLAIN_EDGE = r"(?<![A-Za-z0-9])"
ESCAPES = "\\%["
"""Without one of these in a text no escape is written out in it, and no colour."""
EDGE = (
    rf"(?:{PLAIN_EDGE}|(?<=[0-9a-fA-Fmnrtv])(?:(?<=\\[nrtbfv0])|(?<=\\u00[0-9a-fA-F]{{2}})|(?<=\\x[0-9a-fA-F]{{2}})"
    r"|(?<=%[0-9A-F]{2})|(?<=%[0-9a-f]{2})|(?<=\[[0-9;]m)|(?<=\[[0-9;]{2}m)))"
)
"""Where a token may begin: behind no letter, but behind an escape that is written out, or a colour. What such
an escape ends with is looked for first: nearly every letter is behind something else.
"""

# By kind: the texts with one of which every match begins, and the pattern.
BEGINNINGS = {
    "aws_key": (("AKIA", "ASIA", "ABIA", "ACCA"), r"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}(?![A-Za-z0-9])"),
    "github_token": (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{36,}+"),
    "github_pat": (("github_pat_",), r"github_pat_[A-Za-z0-9_]{50,}+"),
    "gitlab_token": (
        (
            *("glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-"),
            *("gloas-", "glffct-", "glwt-", "GR1348941"),
        ),
        r"(?:gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|soat|oas|ffct|wt)-|GR1348941)[A-Za-z0-9_.-]{20,}+",
    ),
    "slack_token": (
        ("xox", "xapp-"),
        r"(?:xox[a-eoprs]-[A-Za-z0-9-]{10,}+|xoxe\.xox[bp]-[A-Za-z0-9-]{10,}+|xapp-[0-9]-[A-Za-z0-9-]{20,}+)",
    ),
    "slack_webhook": (
        ("https://hooks.slack.com/",),
        r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}+",
    ),
    "webhook": (
        ("https://discord", "https://canary.discord"),
        r"https://(?:canary\.)?discord(?:app)?\.com/api/webhooks/[0-9]{15,20}/[A-Za-z0-9_-]{40,}+",
    ),
    "anthropic_key": (("sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{20,}+"),
    "openai_key": (("sk-",), r"sk-[A-Za-z0-9_-]{20,}+"),
    "google_key": (
        ("AIza", "ya29.", "GOCSPX-", "1//0"),
        r"(?:AIza[A-Za-z0-9_-]{35,}+|ya29\.(?:[a-z]\.)?[A-Za-z0-9_-]{20,}+|GOCSPX-[A-Za-z0-9_-]{24,}+|1//0[A-Za-z0-9_-]{30,}+)",
    ),
    "stripe_key": (
        ("sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"),
        r"(?:[rs]k_(?:live|test)|whsec)_[A-Za-z0-9+/=]{16,}+",
    ),
    "registry_token": (("npm_", "pypi-AgE"), r"(?:npm_[A-Za-z0-9]{36,}+|pypi-AgE[A-Za-z0-9_-]{40,}+)"),
    "huggingface_token": (("hf_", "api_org_"), r"(?:hf|api_org)_[A-Za-z0-9]{30,}+"),
    "docker_token": (("dckr_pat_", "dckr_oat_"), r"dckr_[po]at_[A-Za-z0-9_-]{16,}+"),
    "sendgrid_key": (("SG.",), r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}(?![A-Za-z0-9_-])"),
    "vault_token": (("hvs.", "hvb.", "hvr."), r"hv[sbr]\.[A-Za-z0-9_-]{24,}+"),
    "age_key": (("AGE-SECRET-KEY-",), r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{40,}+"),
    "convex_key": (("prod:", "dev:", "preview:"), r"(?:prod|dev|preview):[a-z-]{5,60}[0-9]{1,4}\|[A-Za-z0-9+/=]{40,}+"),
    "jwt": (
        ("eyJ",),
        (
            r"eyJ[A-Za-z0-9_-]{8,}+\.(?:eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+"
            r"|[A-Za-z0-9_-]{0,2000}\.[A-Za-z0-9_-]{8,40}\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{16,}+)"
        ),
    ),
    "onepassword_token": (
        ("ops_eyJ", "A3-"),
        r"(?:ops_eyJ[A-Za-z0-9_=-]{60,}+|A3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){4,6})",
    ),
    "twitter_bearer": (("A" * 21,), r"A{21,40}+[A-Za-z0-9%]{40,}+(?![+/=])"),
    "paypal_token": (
        ("access_token$", "access_token%24"),
        r"access_token(?:\$|%24)(?:production|sandbox)(?:\$|%24)[a-z0-9]{16}(?:\$|%24)[0-9a-f]{32}",
    ),
    "fly_token": (("fm1r_", "fm2_"), r"fm(?:1r|2)_[A-Za-z0-9+/=]{60,}+"),
}  # fmt: skip

_A, _H, _W = "[A-Za-z0-9]", "[0-9a-f]", "[A-Za-z0-9_-]"
_DIGIT, _DIGITS = "(?=[A-Za-z_-]{0,30}[0-9])", "(?=(?:[A-Za-z_-]{0,30}[0-9]){2})"
_UUID = f"{_H}{{8}}-{_H}{{4}}-{_H}{{4}}-{_H}{{4}}-{_H}{{12}}"

# By kind: what a whole word of at least sixteen characters looks like, from an edge to its end.
LONG_WORDS = {
    # Models.
    "openrouter_key": rf"sk-or-(?:v1-)?{_A}{{32,80}}",
    "deepseek_key": rf"sk-{_H}{{32}}",
    "elevenlabs_key": rf"sk_{_H}{{40,64}}",
    "langfuse_key": rf"sk-lf-{_UUID}",
    "langsmith_key": rf"(?:lsv2_(?:pt|sk)|ls__)_?{_H}{{32}}(?:_{_H}{{10}})?",
    "cerebras_key": rf"csk-{_A}{{40,60}}",
    "replicate_key": rf"r8_{_A}{{36,40}}",
    "fireworks_key": rf"fw_{_A}{{20,40}}",
    "voyage_key": rf"(?:pa|al)-{_W}{{40,50}}",
    "jina_key": rf"jina_{_A}{{50,70}}",
    "tavily_key": rf"tvly-(?:dev-|prod-)?{_A}{{28,40}}",
    "pinecone_key": rf"pcsk_{_A}{{4,8}}_{_A}{{40,70}}",
    "anyscale_key": rf"esecret_{_A}{{24,60}}",
    "wandb_key": rf"wandb_v1_{_W}{{40,100}}",
    "zhipu_key": rf"{_H}{{32}}\.{_A}{{16}}",
    "openai_session": rf"sess-{_A}{{40}}",
    "together_key": rf"tgp_v1_{_W}{{40,50}}",
    "gemini_key": rf"AQ\.Ab8{_W}{{40,60}}",
    "novita_key": rf"sk_{_DIGITS}{_W}{{43}}",
    "firecrawl_key": rf"fc-{_H}{{32}}",
    "brave_key": rf"BSA{_DIGIT}(?=[A-Z0-9_-]{{0,27}}[a-z]){_W}{{28}}",
    "e2b_key": rf"e2b_{_H}{{40}}",
    "daytona_key": rf"dtn_{_H}{{64}}",
    "modal_key": rf"a[ks]-{_DIGIT}(?=[a-z0-9]{{0,21}}[A-Z]){_A}{{22}}",
    "composio_key": rf"ak_{_DIGIT}(?=[a-z0-9_-]{{0,19}}[A-Z]){_W}{{20}}",
    "browserbase_key": rf"bb_(?:live|test)_{_DIGIT}{_W}{{20,40}}",
    "llamacloud_key": rf"llx-{_A}{{40,60}}",
    "helicone_key": r"sk-helicone-(?:[a-z0-9]{7}-){3}[a-z0-9]{7}",
    "cursor_key": rf"(?:key|crsr)_(?:{_H}{{128}}|{_H}{{64}})",
    "bedrock_key": r"(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/=]{60,}+",
    "lambda_key": rf"secret_{_A}{{20}}_{_H}{{32}}\.{_A}{{32}}",
    "runpod_key": rf"rpa_{_DIGIT}{_A}{{48}}",
    "unkey_key": rf"unkey_{_DIGIT}{_A}{{20,28}}",
    # Clouds.
    "aws_session_token": r"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz)[A-Za-z0-9+/=]{60,}+",
    "azure_key": rf"{_A}{{52}}JQQJ99{_A}{{26}}",
    "google_hmac_key": r"GOOG1?(?=[A-Z]{0,30}[0-9])[A-Z0-9]{56,60}",
    "firebase_key": rf"AAAA{_W}{{7}}:APA91b{_W}{{100,}}+",
    "exoscale_key": rf"EXO{_H}{{24}}",
    "atlas_secret": rf"mdb_sa_sk_{_W}{{40}}",
    "alibaba_key": rf"LTAI{_A}{{12,24}}",
    "tencent_key": rf"AKID{_A}{{32}}",
    "baidu_key": rf"bce-v3/ALTAK-{_A}{{21}}/{_H}{{40}}",
    "yandex_key": rf"(?:AQVN{_W}{{35,40}}|y0_{_W}{{55,60}}|t1\.[A-Z0-9a-z_-]{{80,}}+)",
    "azure_secret": r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}",
    "azure_devops_token": rf"{_A}{{76}}AZDO{_A}{{4}}",
    "ibm_key": rf"ApiKey-{_UUID}",
    "oracle_key": rf"ocid1\.credential\.{_W}{{40,}}+",
    "scaleway_key": rf"SCW{_A}{{17}}",
    "cloudflare_key": rf"(?:v1\.0-{_H}{{24}}-{_H}{{100,160}}|cf(?:ut|at|k)_{_A}{{36,60}})",
    "heroku_key": rf"HRKU-{_W}{{30,70}}",
    "netlify_token": rf"nf[pocu]_{_A}{{36,50}}",
    "vercel_token": rf"(?:vc[pkiar]_{_A}{{24,60}}|vercel_blob_rw_{_A}{{16}}_{_A}{{24,40}})",
    "tailscale_key": rf"tskey-[a-z]{{3,12}}-{_A}{{8,20}}CNTRL-{_A}{{20,50}}",
    "scalingo_token": rf"tk-us-{_W}{{12,52}}",
    "render_key": rf"rnd_{_A}{{28,40}}",
    "railway_token": rf"rw_(?:Fe26\.2\*\*)?{_A}{{40,}}+",
    "planetscale_token": r"pscale_(?:tkn|pw|oauth|otkn)_[A-Za-z0-9_.=-]{32,64}",
    "supabase_key": rf"sb_secret_{_W}{{24,50}}",
    "neon_key": rf"(?:napi_{_A}{{48,70}}|npg_{_DIGIT}{_A}{{12,16}})",
    "xata_key": rf"xau_{_A}{{36,44}}",
    "deno_token": rf"dd[po]_{_A}{{36}}",
    "depot_token": rf"depot_(?:project|org|user)_{_H}{{64}}",
    "bitwarden_token": rf"0\.{_UUID}\.{_A}{{30}}:[A-Za-z0-9+/]{{22}}={{0,2}}",
    "boundary_token": rf"at_{_A}{{10}}_{_W}{{60,400}}",
    "swarm_token": r"SWMTKN-1-[a-z0-9]{50}-[a-z0-9]{25}",
    "k3s_token": rf"K10{_H}{{64}}::(?:server|node|agent|[a-z0-9]{{1,20}}):{_W}{{16,80}}",
    "terraform_token": rf"{_A}{{14}}\.atlasv1\.{_W}{{60,70}}",
    "pulumi_token": rf"pul-{_H}{{40}}",
    "doppler_token": rf"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{{2,35}}\.)?{_A}{{40,44}}",
    "infisical_token": rf"st\.{_H}{{24}}\.{_H}{{32}}\.{_H}{{32}}",
    "vault_old_token": rf"[sb]\.(?=[a-zA-Z]{{0,23}}[0-9])(?=[a-z0-9]{{0,23}}[A-Z]){_A}{{24}}",
    "databricks_token": rf"dapi{_H}{{32}}(?:-[0-9])?",
    "snowflake_token": rf"ver:1-hint:{_W}{{40,}}+",
    "kubernetes_token": r"kubeconfig-u-[a-z0-9]{5,10}:[a-z0-9]{54}",
    "rancher_token": r"token-[a-z0-9]{5}:[a-z0-9]{54}",
    # Where code is kept, built and published.
    "atlassian_token": rf"(?:ATCTT3|ATSTT3|ATBB|ATOA){_W}{{20,250}}=?{_A}{{0,8}}",
    "buildkite_token": rf"bk(?:ua|pt|ct|at)_{_A}{{36,60}}",
    "circleci_token": rf"CCI(?:PAT|PRJ)_{_A}{{20,24}}_{_H}{{40}}",
    "clojars_token": rf"CLOJARS_{_H}{{60}}",
    "crates_token": rf"cio{_A}{{32}}",
    "nuget_key": r"oy2[a-z0-9]{43}",
    "sonar_token": rf"sq[pua]_{_H}{{40}}",
    "sourcegraph_token": rf"(?:sgp_(?:{_A}{{16}}_|local_)?{_H}{{40}}|slk_{_H}{{64}})",
    "sentry_token": rf"sntryu_{_H}{{64}}",
    "artifactory_token": rf"(?:AKCp[0-9a-zA-Z]{{60,80}}|cmVmdGtu{_A}{{56}})",
    "packagist_token": rf"packagist_(?:uut|ort|out|oat)_{_H}{{60,80}}",
    "drone_token": rf"droneci_{_A}{{30,}}+",
    "octopus_key": r"API-[A-Z0-9]{26,32}",
    "launchdarkly_key": rf"(?:sdk|api)-{_UUID}",
    "statsig_key": rf"secret-{_A}{{43}}",
    "prefect_key": rf"pn[ub]_{_A}{{36}}",
    "infracost_key": rf"ico-{_A}{{32}}",
    "jsr_token": rf"jsr[dp]_{_A}{{36,44}}",
    "socket_token": rf"sktsec_{_W}{{36,60}}",
    "stackhawk_key": rf"hawk\.{_W}{{20}}\.{_W}{{20}}",
    "paseto": r"v[1-4]\.(?:local|public)\.[A-Za-z0-9+/_-]{60,}+",
    "trigger_key": rf"tr_(?:prod|dev|stg|preview)_{_DIGIT}{_A}{{20,24}}",
    "inngest_key": rf"signkey-(?:prod|test|branch)-{_H}{{32,64}}",
    "snyk_token": rf"snyk_(?:uat|sat)\.{_H}{{8}}\.{_W}{{40,}}+",
    "harness_token": rf"(?:pat|sat)\.{_W}{{22}}\.{_H}{{24}}\.{_A}{{20}}",
    "ngrok_token": rf"[12]{_A}{{26}}_[0-9]{_A}{{20}}",
    # Watching.
    "grafana_token": r"(?:glc_[A-Za-z0-9+/=]{32,400}|eyJrIjoi[A-Za-z0-9+/=]{50,400})",
    "newrelic_key": rf"(?:NR(?:II|JS|SP|RA|AK)-{_A}{{18,40}}|{_H}{{36}}NRAL)",
    "dynatrace_token": r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}",
    "honeycomb_key": rf"hc[abx]ik_[0-9a-z]{{26}}{_A}{{32}}",
    "logfire_token": rf"pylf_v[0-9]_[a-z]{{2}}_{_A}{{40,50}}",
    "posthog_key": rf"ph[xs]_{_A}{{40,50}}",
    "axiom_token": rf"xa[ap]t-{_UUID}",
    "datadog_key": rf"dd(?:[aps]|pat)_{_A}{{30,50}}",
    # Mail and messages.
    "mailgun_key": rf"(?:key-{_H}{{32}}|{_H}{{32}}-{_H}{{8}}-{_H}{{8}})",
    "mailchimp_key": rf"{_H}{{32}}-us[0-9]{{1,2}}",
    "mailersend_key": rf"mlsn\.{_H}{{64}}",
    "brevo_key": rf"x(?:key|smtp)sib-{_H}{{64}}-{_A}{{16}}",
    "resend_key": rf"re_{_A}{{8}}_{_A}{{24}}",
    "twilio_key": rf"SK{_H}{{32}}",
    "telegram_token": r"(?:bot)?[0-9]{8,10}:AA[A-Za-z0-9_-]{33}",
    "discord_token": r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}",
    "discord_mfa_token": rf"mfa\.{_W}{{80,90}}",
    "facebook_token": rf"(?<![+/])(?:EAA{_A}{{60,}}+|(?:IG|TH)AA{_A}{{100,}}+)(?![+/])",
    "linkedin_token": rf"AQ[U-X]{_W}{{80,}}+",
    "teams_webhook": rf"webhookb2/{_UUID}@{_UUID}",
    "teams_webhook_key": rf"IncomingWebhook/{_H}{{32}}/{_UUID}",
    # Money and shops.
    "square_token": rf"(?:sq0(?:atp|csp|idp)-{_W}{{22,43}}|EAAA{_W}{{56,62}})",
    "easypost_key": rf"EZ[AT]K{_A}{{54}}",
    "flutterwave_key": rf"FLWSECK(?:_TEST)?-{_A}{{12,40}}(?:-X)?",
    "razorpay_key": rf"rzp_(?:live|test)_{_A}{{14,20}}",
    "shippo_token": rf"shippo_(?:live|test)_{_H}{{40}}",
    "duffel_token": rf"duffel_(?:live|test)_{_W}{{43}}",
    "plaid_token": rf"access-(?:sandbox|development|production)-{_UUID}",
    "adyen_key": r"AQE[a-z]hm[A-Za-z0-9+/=_-]{60,}+",
    "gocardless_token": rf"live_(?=[A-Za-z_-]{{0,39}}[0-9]){_W}{{40}}",
    "paddle_key": rf"pdl_(?:live|sdbx)_apikey_[a-z0-9]{{26}}_{_A}{{22}}_{_A}{{3}}",
    "mollie_key": rf"live_{_DIGIT}(?=[a-z0-9]{{0,29}}[A-Z]){_A}{{30}}",
    "stytch_key": rf"secret-(?:live|test)-{_W}{{34,50}}={{0,2}}",
    "svix_key": rf"(?:test)?sk_{_W}{{32}}\.(?:us|eu|in|ca|au)",
    "polar_token": rf"polar_(?:oat|pat)_{_W}{{32,60}}",
    "coinbase_key": r"organizations/[0-9a-f-]{36}/apiKeys/[0-9a-f-]{36}",
    "porkbun_key": rf"[ps]k1_{_H}{{64}}",
    "twitch_token": r"oauth:(?=[a-z]{0,20}[0-9])[a-z0-9]{30}",
    "pagerduty_key": rf"u(?:\+|%2[Bb]){_DIGIT}(?=[a-z0-9_-]{{0,17}}[A-Z]){_W}{{18}}",
    "intercom_token": r"dG9rO[A-Za-z0-9+/]{54,60}=",
    # Desks.
    "airtable_token": rf"pat{_A}{{14}}\.{_H}{{64}}",
    "clickup_token": r"pk_[0-9]{5,10}_[A-Z0-9]{32}",
    "canva_key": rf"cnvca{_W}{{43}}",
    "asana_token": rf"[0-9]/[0-9]{{15,17}}(?:/[0-9]{{15,17}})?:{_H}{{32}}",
    "linear_token": rf"lin_oauth_{_A}{{40,70}}",
    "notion_token": rf"(?:secret_{_A}{{43}}|ntn_{_A}{{40,50}})",
    "figma_token": rf"fig(?:d|u|ur|o|or)h?_{_W}{{38,60}}",
    "trello_token": rf"ATTA{_H}{{64}}",
    "typeform_token": rf"tfp_{_A}{{40,60}}_?{_A}{{0,20}}",
    "contentful_token": rf"CFPAT-{_W}{{43}}",
    "hubspot_token": rf"pat-(?:na|eu|ap)[0-9]-{_UUID}",
    "dropbox_token": rf"sl\.(?:u\.)?{_W}{{60,}}+",
    "readme_key": r"rdme_[a-z0-9]{60,80}",
    "wakatime_key": rf"waka_{_UUID}",
    "adafruit_key": rf"aio_{_A}{{28}}",
    "mapbox_token": rf"[st]k\.eyJ{_W}{{40,}}+\.{_W}{{20,}}+",
    "frameio_token": rf"fio-u-{_W}{{60,70}}",
    "zuplo_key": rf"zpka_{_H}{{32}}_{_H}{{8}}",
    "sas_signature": r"(?:sig(?:=|%3D)[A-Za-z0-9%+/]{40,60}(?:%3D|%3d|=)|Signature(?:=|%3D)[0-9a-f]{64})",
    # Services whose tokens are a name and then chance: at least four digits, or one among letters of both sizes.
    "service_token": (
        r"(?:dop_v1_|doo_v1_|dor_v1_|shp(?:at|ss|ca|ua|pa|tka)_|lin_api_|gsk_|pplx-|xai-|rubygems_|PMAK-|tskey-"
        r"|ATATT3|sntrys_|sbp_|glsa_|nvapi-)"
        r"(?:(?=(?:[A-Za-z_-]{0,80}[0-9]){4})[A-Za-z0-9_-]{24,}+"
        r"|(?=[a-z0-9]{0,30}[A-Z])(?=[A-Z0-9]{0,30}[a-z])(?=[A-Za-z]{0,60}[0-9])[A-Za-z0-9]{32,}+)"
    ),
    # Keys without a name.
    "fernet_token": r"gAAAAA[A-Za-z0-9_-]{70,}+={0,2}",
    "bitcoin_key": r"xprv[A-HJ-NP-Za-km-z1-9]{100,112}",
    "signify_key": r"RWR(?:TY0Iy|CSwAA)[A-Za-z0-9+/=]{100,}+",
    "nostr_key": r"nsec1[02-9ac-hj-np-z]{58}",
}  # fmt: skip
