"""Final decisions as models and people write them, each with the option that a reader would say was taken;
empty where a reader would say that nothing was.
"""

QUEUES = "## Options\n\n1. **Celery with Redis**: what we know\n2. **Postgres queue**: SKIP LOCKED\n3. **Temporal**: durable\n"
LABELLED = "## Options\n\n### Option A: Keep the monolith\n\n### Option B: Split out billing\n\n### Option C: Rewrite in Go\n"
CACHES = "## Options\n\n| Option | About |\n|---|---|\n| In-process cache | a dict |\n| Redis | shared |\n| No cache | nothing |\n| Hybrid of both | two layers |\n"
STORES = "## Options Under Consideration\n\n- SQLite: a file\n- PostgreSQL: a server\n- DynamoDB: managed\n"
LOGINS = "## Options Under Consideration\n\n1. **JWT with refresh tokens**: stateless\n2. **Server sessions**: a table\n3. **External provider**: somebody else's\n"
PAGES = "## Options Under Consideration\n\n### Option 1: Server-rendered pages\n\nfast\n\n### Option 2: React SPA\n\nrich\n\n### Option 3: Islands\n\nboth\n"
BROKERS = "## Options\n\n- Kafka\n- RabbitMQ\n- SQS\n"

DECIDED: list[tuple[str, str, str]] = [
    # The choice, then what was turned down.
    (QUEUES, "We go with the Postgres queue, not Celery with Redis.", "Postgres queue"),
    (
        QUEUES,
        "**Decision: Temporal**\n\nCelery with Redis was rejected because retries are opaque; the Postgres queue was rejected because it needs polling.",
        "Temporal",
    ),
    (
        QUEUES,
        "Postgres Queue.\n\n### Rejected alternatives\n\n- **Celery with Redis**: another service to run\n- **Temporal**: too heavy for three jobs",
        "Postgres queue",
    ),
    (
        QUEUES,
        "We select **postgres queue** (Option 2).\n\n**Why not Temporal?** It needs a cluster.\n\n**Why not Celery with Redis?** It loses jobs.",
        "Postgres queue",
    ),
    (
        QUEUES,
        "After weighing Celery with Redis, the Postgres queue and Temporal, the panel recommends Temporal.",
        "Temporal",
    ),
    (
        QUEUES,
        "The recommendation is to adopt TEMPORAL for all long-running jobs. The Postgres queue remains the fallback.",
        "Temporal",
    ),
    (
        QUEUES,
        "Although Temporal scored highest on durability, its operational cost is prohibitive. We therefore choose the Postgres queue.",
        "Postgres queue",
    ),
    (
        QUEUES,
        "> **Option 3: Temporal**\n\nRationale: durable timers, and the skeptic's concern about hosting is met by the managed offering.",
        "Temporal",
    ),
    (
        QUEUES,
        "| Field | Value |\n|---|---|\n| Chosen option | Postgres queue |\n| Runner-up | Temporal |\n| Rejected | Celery with Redis |",
        "Postgres queue",
    ),
    (
        QUEUES,
        "| Option | Verdict |\n|---|---|\n| Celery with Redis | Rejected |\n| Postgres queue | **Selected** |\n| Temporal | Deferred |",
        "Postgres queue",
    ),
    (QUEUES, "1. ~~Celery with Redis~~\n2. **Postgres queue** ✅\n3. ~~Temporal~~", "Postgres queue"),
    (QUEUES, "- [ ] Celery with Redis\n- [x] Postgres queue\n- [ ] Temporal", "Postgres queue"),
    (
        QUEUES,
        "Celery with Redis is off the table: it loses jobs on restart. Temporal is overkill. That leaves the Postgres queue, which we adopt.",
        "Postgres queue",
    ),
    (
        QUEUES,
        "Temporal wins. It beats Celery with Redis on durability and the Postgres queue on visibility.",
        "Temporal",
    ),
    (QUEUES, "Rather than Temporal, we will build on the Postgres queue.", "Postgres queue"),
    (QUEUES, "We prefer the Postgres queue to Temporal.", "Postgres queue"),
    (QUEUES, "We choose the Postgres queue over both Celery with Redis and Temporal.", "Postgres queue"),
    # Conditions, stages, fallbacks.
    (
        QUEUES,
        "Start with the Postgres queue now; migrate to Temporal if we pass 1,000 jobs a minute.",
        "Postgres queue",
    ),
    (
        QUEUES,
        "If the load test passes, we stay with the Postgres queue; otherwise we fall back to Temporal.",
        "Postgres queue",
    ),
    (
        QUEUES,
        "Temporal, provided that hosting is approved by 1 March. If it is not, the Postgres queue is the fallback.",
        "Temporal",
    ),
    (QUEUES, "Primary: Temporal\nFallback: Postgres queue", "Temporal"),
    (QUEUES, "Unless legal objects, Temporal.", "Temporal"),
    # Labels and their names.
    (LABELLED, "**Option B.** Billing changes three times as often as the rest.", "Split out billing"),
    (
        LABELLED,
        "Option B (Split out billing) is selected. Option A keeps us where we are, and Option C is a year of work.",
        "Split out billing",
    ),
    (LABELLED, "Option A is rejected. Option C is rejected. Option B it is.", "Split out billing"),
    (LABELLED, "We go with B: split out billing.", "Split out billing"),
    (LABELLED, "Choose option b.", "Split out billing"),
    (LABELLED, "Not Option C. Not Option A. Option B.", "Split out billing"),
    (
        LABELLED,
        "The team will **keep the monolith** for now and revisit splitting out billing in Q3.",
        "Keep the monolith",
    ),
    (LABELLED, "Scores: Option A 6.1, Option B 8.4, Option C 4.0. Decision: Option B.", "Split out billing"),
    # Hybrids: where the plan has one it is taken, where it has none the words name what it is built on, or nothing.
    (CACHES, "Hybrid of both: an in-process cache in front of Redis.", "Hybrid of both"),
    (
        CACHES,
        "We adopt the hybrid of both, i.e. an in-process cache backed by Redis, rather than Redis alone.",
        "Hybrid of both",
    ),
    (CACHES, "**No cache.** Measured hit rates do not justify Redis or an in-process cache.", "No cache"),
    (CACHES, "We will ship with no cache; Redis can be added later without changing callers.", "No cache"),
    (
        CACHES,
        "Redis. An in-process cache cannot be invalidated across workers, and no cache misses the latency goal.",
        "Redis",
    ),
    (
        CACHES,
        "The advocate argued for Redis and the skeptic for no cache. The decision is the in-process cache.",
        "In-process cache",
    ),
    # Nothing that a reader could say was decided.
    (CACHES, "Both Redis and the in-process cache have merit; more data is needed before we choose.", ""),
    (CACHES, "We could use Redis, or we could use an in-process cache.", ""),
    (QUEUES, "Either Temporal or the Postgres queue, depending on what the load test says.", ""),
    (
        QUEUES,
        "We defer the choice between Celery with Redis, the Postgres queue and Temporal to next quarter.",
        "",
    ),
    # Other words, other forms.
    (
        STORES,
        "PostgreSQL is our choice. SQLite cannot take concurrent writers and DynamoDB locks us in.",
        "PostgreSQL",
    ),
    (STORES, "We recommend PostgreSQL over DynamoDB and SQLite, because the team knows it.", "PostgreSQL"),
    (STORES, "SQLite it is: one file, zero administration.", "SQLite"),
    (STORES, "After extensive debate, the consensus is PostgreSQL.", "PostgreSQL"),
    (STORES, "The synthesizer sides with the operator: PostgreSQL.", "PostgreSQL"),
    (
        STORES,
        "The advocate's case for DynamoDB is strong, but cost rules it out. The skeptic is right that SQLite will not scale. Final choice: PostgreSQL.",
        "PostgreSQL",
    ),
    (STORES, "**SELECTED: PostgreSQL**\n\n**REJECTED: SQLite, DynamoDB**", "PostgreSQL"),
    (STORES, "Go with sqlite for the MVP. Re-evaluate PostgreSQL at 10k users.", "SQLite"),
    (STORES, "We will proceed with PostgreSQL.", "PostgreSQL"),
    (STORES, "PostgreSQL (score 8.7) > DynamoDB (7.1) > SQLite (5.0)", "PostgreSQL"),
    (
        STORES,
        "| Criterion | SQLite | PostgreSQL | DynamoDB |\n|---|---|---|---|\n| Ops | 9 | 6 | 8 |\n| Scale | 3 | 8 | 9 |\n\n**PostgreSQL** is adopted.",
        "PostgreSQL",
    ),
    (STORES, "Our decision: move from SQLite to PostgreSQL.", "PostgreSQL"),
    (STORES, "Not DynamoDB; not SQLite either. PostgreSQL.", "PostgreSQL"),
    (STORES, "Don't use DynamoDB. Use PostgreSQL, hosted.", "PostgreSQL"),
    (STORES, "There is no clear winner between SQLite and PostgreSQL.", ""),
    (STORES, "A hybrid: SQLite on the device and PostgreSQL on the server.", ""),
    (STORES, "We should use SQLite and PostgreSQL.", ""),
    (
        LOGINS,
        "External Provider, with server sessions kept as the fallback for 90 days.",
        "External provider",
    ),
    (LOGINS, "Adopt Option 2.\n\nOption 1 fails on revocation; Option 3 fails on cost.", "Server sessions"),
    (
        LOGINS,
        "#### Decision\n\nServer sessions\n\n#### Alternatives considered\n\nJWT with refresh tokens; External provider",
        "Server sessions",
    ),
    (
        LOGINS,
        "*JWT with refresh tokens* is hereby **accepted**; `Server sessions` and `External provider` are declined.",
        "JWT with refresh tokens",
    ),
    (
        LOGINS,
        "We choose JWT with refresh tokens, even though server sessions are simpler and an external provider is safer.",
        "JWT with refresh tokens",
    ),
    (
        LOGINS,
        "Server sessions. JWT with refresh tokens would have been faster, and an external provider cheaper.",
        "Server sessions",
    ),
    (LOGINS, "D1: Use JWT with refresh tokens\nD2: Rotate refresh tokens daily", "JWT with refresh tokens"),
    (LOGINS, "- D1: Use server sessions\n- D2: Expire them after a day", "Server sessions"),
    (LOGINS, "We are leaning towards server sessions but want the pen-test result first.", ""),
    (LOGINS, "Postpone. Either JWT with refresh tokens or server sessions would do.", ""),
    (PAGES, "Islands (Option 3). Option 2 was tempting; Option 1 was the safest.", "Islands"),
    (PAGES, "Final: Option 3 \u2013 Islands.", "Islands"),
    (PAGES, "We pick server-rendered pages for phase one; Islands may follow.", "Server-rendered pages"),
    (
        PAGES,
        "React SPA is not chosen. Islands is not chosen either. Server-rendered pages stays.",
        "Server-rendered pages",
    ),
    (PAGES, "The winner is option 1, by a margin of two points over option 3.", "Server-rendered pages"),
    (PAGES, "OPTION 2 — REACT SPA", "React SPA"),
    (PAGES, "Decision 2: go with Islands; Decision 1 (React SPA) is withdrawn.", "Islands"),
    (
        PAGES,
        "It would be unwise to pick the React SPA. It would be premature to pick Islands. Hence server-rendered pages.",
        "Server-rendered pages",
    ),
    (BROKERS, "Kafka.", "Kafka"),
    (BROKERS, "RabbitMQ has been selected as the message broker.", "RabbitMQ"),
    (BROKERS, "In the end we settled on SQS.", "SQS"),
    (BROKERS, "SQS, then. Kafka's throughput is wasted on us, RabbitMQ needs babysitting.", "SQS"),
    (BROKERS, "We commit to RabbitMQ and will not revisit Kafka before 2031.", "RabbitMQ"),
    (BROKERS, "Kafka gives us replay, which neither RabbitMQ nor SQS has.", "Kafka"),
    (BROKERS, "Kafka gives us replay that SQS lacks, so Kafka is what we build on.", "Kafka"),
    (
        BROKERS,
        "Two of three roles favoured Kafka; the operator's no-go is decisive, so RabbitMQ is the decision.",
        "RabbitMQ",
    ),
    (BROKERS, "Our pick: SQS\n\n**Not picked:** Kafka, RabbitMQ", "SQS"),
    (BROKERS, "Final answer → SQS", "SQS"),
    (BROKERS, "1. SQS\n2. RabbitMQ\n3. Kafka\n\nThe first wins by weight.", ""),
    (BROKERS, "We accept SQS's limits and choose it over Kafka.", "SQS"),
    (BROKERS, "Kafka is too much. RabbitMQ is too little. SQS is right.", ""),
    (BROKERS, "Kafka is ruled out. RabbitMQ is ruled out. SQS remains.", "SQS"),
    (BROKERS, "Let's use Kafka!", "Kafka"),
    (BROKERS, "The decision is not to use Kafka. RabbitMQ will be used.", "RabbitMQ"),
    (BROKERS, "Replace RabbitMQ with SQS.", "SQS"),
    (BROKERS, "No Kafka. SQS.", "SQS"),
    (BROKERS, "Kafka > RabbitMQ", "Kafka"),
    (BROKERS, "We choose kafka\nbecause replay matters more than price\nand sqs has none", "Kafka"),
    (BROKERS, "### Chosen: RabbitMQ\n\n### Rejected: Kafka\n\n### Rejected: SQS", "RabbitMQ"),
    (BROKERS, "Kafka: 7/10\nRabbitMQ: 8/10\nSQS: 6/10\n\nRabbitMQ is therefore chosen.", "RabbitMQ"),
    (BROKERS, "Both Kafka and SQS are viable. We will use SQS.", "SQS"),
    (BROKERS, "Whichever of Kafka and SQS is cheaper in March.", ""),
    (BROKERS, "SQS is the safest, and we take it.", "SQS"),
    (BROKERS, "It's a tie between Kafka and SQS, and the tie goes to SQS.", "SQS"),
    (QUEUES, "Compared with Temporal, the Postgres queue is simpler to run.", "Postgres queue"),
    (
        QUEUES,
        "We weighed Temporal, Celery with Redis, and the Postgres queue. Temporal is adopted.",
        "Temporal",
    ),
    # A reader would understand it; the words do not say it plainly enough: asked again, and not guessed.
    (BROKERS, "Use Kafka only if SQS fails the load test; until then SQS.", ""),
]
