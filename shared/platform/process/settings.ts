import { z } from 'zod'

/** One setting: its schema (text in, value out), and what the documentation says of it. */
interface Setting<T> {
  schema: z.ZodType<T>
  /** as written in the environment; absent when the setting is required or simply off */
  fallback?: string
  secret?: true
  doc: string
}

function setting<T>(schema: z.ZodType<T>, doc: string, options: { fallback?: string; secret?: true } = {}): Setting<T> {
  return { schema, doc, ...options }
}

const text = z.string().trim().min(1, 'is empty')
const optionalText = text.optional()
const url = (protocols: string[]) =>
  text.refine(
    (value) => {
      const parsed = URL.parse(value)
      return parsed !== null && protocols.includes(parsed.protocol)
    },
    `is not a URL with ${protocols.join(' or ')}`,
  )
const integer = (min: number, max: number) =>
  text
    .regex(/^\d+$/, 'is not a whole number')
    .transform(Number)
    .pipe(z.number().min(min, `is below ${min}`).max(max, `is above ${max}`))
const port = integer(0, 65535)
const list = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
)
const privateTargets = z.string().transform((value) => {
  const trimmed = value.trim()
  if (trimmed === '' || trimmed === 'false') return false
  if (trimmed === 'true') return true
  return trimmed.split(',').map((item) => item.trim())
})
const secretKey = text.min(32, 'is shorter than 32 characters')

/** Every setting of the product. docs/settings.md is generated from this table. */
export const settings = {
  DATABASE_URL: setting(url(['postgres:', 'postgresql:']), 'PostgreSQL 15 or newer.', { secret: true }),
  DATABASE_OWNER_URL: setting(
    url(['postgres:', 'postgresql:']).optional(),
    'Only for migrations: the login that owns the tables. They then make the login of `DATABASE_URL`, which owns nothing and which row security binds.',
    { secret: true },
  ),
  AMQP_URL: setting(url(['amqp:', 'amqps:']), 'RabbitMQ 3.10 or newer, with the virtual host as its path.', {
    secret: true,
  }),
  HOST: setting(
    text,
    'Address that the HTTP server and the e-mail ping listener use; `make up` sets `127.0.0.1`. On any but a loopback address well-known passwords, keys with few different characters and secret files open to other users are refused.',
    { fallback: '0.0.0.0' },
  ),
  PORT: setting(port, 'Port of the HTTP server.', { fallback: '8080' }),
  PUBLIC_URL: setting(
    url(['http:', 'https:']).optional(),
    'Address that users reach the service at, without a trailing slash; every link is built from it. Default: `http://localhost:PORT`.',
  ),
  SECRET_KEY: setting(
    secretKey,
    'At least 32 random characters. Derives the keys that digest API keys, sign badges and encrypt stored credentials.',
    { secret: true },
  ),
  SECRET_KEY_PREVIOUS: setting(
    secretKey.optional(),
    'The key before the last rotation: still decrypts, never encrypts.',
    { secret: true },
  ),
  SEAL_FORMAT: setting(
    z.enum(['v1', 'v2']),
    'How stored secrets are encrypted: `v2` binds each to its purpose. `v1` is for the time of a rolling restart from a version that cannot read `v2`.',
    { fallback: 'v2' },
  ),
  SITE_NAME: setting(text, 'Name shown in pages, badges and messages.', { fallback: 'Signalbox' }),
  SMTP_PORT: setting(port, 'Port of the e-mail ping listener.', { fallback: '2525' }),
  SMTP_TLS_CERT: setting(
    optionalText,
    'Certificate chain (PEM) of the e-mail ping listener, which then offers STARTTLS; goes with `SMTP_TLS_KEY`.',
  ),
  SMTP_TLS_KEY: setting(optionalText, 'Private key (PEM) of that certificate.', { secret: true }),
  PING_EMAIL_DOMAIN: setting(text, 'Domain of e-mail ping addresses.', { fallback: 'localhost' }),
  SMTP_URL: setting(
    url(['smtp:', 'smtps:']).optional(),
    'Server for outgoing mail, `smtp://user:password@host:port`. Without it e-mail integrations fail with a clear error.',
    { secret: true },
  ),
  MAIL_FROM: setting(text, 'Sender of outgoing mail.', { fallback: 'Signalbox <signalbox@localhost>' }),
  METRICS_PORT: setting(port, 'Port of `/metrics` for Prometheus; 0 picks a free one. Not meant for the public.', {
    fallback: '9464',
  }),
  METRICS_HOST: setting(text, 'Address `/metrics` listens on.', { fallback: '127.0.0.1' }),
  METRICS_OPEN: setting(
    z.stringbool({ truthy: ['true'], falsy: ['false'], error: 'is neither true nor false' }),
    '`true` accepts a `METRICS_HOST` beyond the loopback: whoever reaches it reads `/metrics` and the reasons of `/readyz`.',
    { fallback: 'false' },
  ),
  LOG_LEVEL: setting(
    z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    'Least severe log line written.',
    {
      fallback: 'info',
    },
  ),
  PING_SHARDS: setting(
    integer(1, 64),
    'Number of ping queues. The same for every process: `admin shards set` changes it. More than one only where one broker queue is the limit: each costs messages.',
    { fallback: '1' },
  ),
  CHECK_CACHE_SECONDS: setting(
    integer(1, 3600),
    'Longest time for which an ingress answers pings by what it knows of a check without asking the database. While the database is away it goes on for a day.',
    { fallback: '30' },
  ),
  PING_BODY_LIMIT: setting(integer(0, 1_000_000), 'Bytes of a ping body that are stored and searched.', {
    fallback: '10000',
  }),
  PING_LOG_LIMIT: setting(integer(1, 100_000), 'Pings kept per check.', { fallback: '1000' }),
  PING_RATE_LIMIT_PER_MINUTE: setting(
    integer(0, 10_000_000),
    'Pings per check and minute, per process: what is beyond is not logged, and counted on the page of the check; 0 is no limit.',
    {
      fallback: '60000',
    },
  ),
  CHECK_LIMIT: setting(
    integer(0, 100_000_000),
    'Checks per project that has no limit of its own; pings with `create=1` make up to twice as many. Its owners are told once.',
    { fallback: '1000' },
  ),
  API_RATE_LIMIT_PER_MINUTE: setting(integer(0, 10_000_000), 'Requests per API key and minute; 0 is no limit.', {
    fallback: '100',
  }),
  FINANCING_ELEMENTS_PER_DAY: setting(
    integer(0, 10_000_000),
    'Fingerprints that an organisation may have evaluated on an Indian day, per environment; a receivable by its fields counts four. 0 is no limit.',
    { fallback: '3000' },
  ),
  FINANCING_CHECKS_PER_DAY: setting(
    integer(0, 10_000_000),
    'First-financing checks of an organisation on an Indian day, per environment; 0 is no limit.',
    { fallback: '2000' },
  ),
  FINANCING_OPEN_REGISTRATIONS: setting(
    integer(0, 10_000_000),
    'Receivables that an organisation may have registered and not financed, per environment; 0 is no limit.',
    { fallback: '5000' },
  ),
  PLATFORM_RATE_LIMIT_PER_MINUTE: setting(
    integer(0, 10_000_000),
    'Requests under /v1 per organisation, environment and family in a minute, per process; 0 is no limit.',
    {
      fallback: '6000',
    },
  ),
  PUBLIC_RATE_LIMIT_PER_MINUTE: setting(
    integer(0, 10_000_000),
    'Look-ups under /v1 without an access token per address and minute, per process; 0 is no limit.',
    { fallback: '600' },
  ),
  AGENT_RATE_LIMIT_PER_MINUTE: setting(
    integer(0, 10_000_000),
    'Requests to /mcp per agent key and minute, per process; 0 is no limit.',
    { fallback: '300' },
  ),
  MCP_ALLOWED_ORIGINS: setting(
    list,
    'Origins of pages that may call /mcp, separated by commas, beside that of PUBLIC_URL.',
    { fallback: '' },
  ),
  HTTP_CONNECTIONS_PER_ADDRESS: setting(
    integer(0, 20_000),
    'Open HTTP connections of one address (IPv6: of one /64), per process; 0 is no limit. TRUSTED_PROXIES have none.',
    { fallback: '1000' },
  ),
  SMTP_CONNECTIONS_PER_ADDRESS: setting(
    integer(0, 1_000),
    'Open SMTP connections of one address (IPv6: of one /64); 0 is no limit. TRUSTED_PROXIES have none.',
    { fallback: '50' },
  ),
  MAIL_RATE_LIMIT_PER_ADDRESS: setting(
    integer(0, 10_000_000),
    'Mails of one address in a minute; further ones are refused for now. 0 is no limit, TRUSTED_PROXIES have none.',
    { fallback: '600' },
  ),
  MAIL_RATE_LIMIT_PER_CHECK: setting(
    integer(0, 10_000_000),
    'Mails to one check in a minute whose text is stored; further ones count as pings all the same. 0 is no limit.',
    { fallback: '60' },
  ),
  MAIL_BODY_LIMIT: setting(
    integer(0, 33_554_432),
    'Bytes of a mail that are stored; all of it is searched for keywords.',
    {
      fallback: '100000',
    },
  ),
  TRUSTED_PROXIES: setting(list, 'Addresses or networks whose X-Forwarded-* headers are believed.', {
    fallback: '127.0.0.0/8,::1/128',
  }),
  ALLOW_PRIVATE_TARGETS: setting(
    privateTargets,
    'Whether outgoing requests may reach private addresses: `false`, `true`, or a list of networks.',
    { fallback: 'false' },
  ),
  DB_POOL: setting(integer(1, 200), 'Database connections per process.', { fallback: '10' }),
  DATABASE_TIMEOUT_MS: setting(integer(100, 60_000), 'Longest wait for a connection, a lock or an answer.', {
    fallback: '5000',
  }),
  PUBLISH_TIMEOUT_MS: setting(integer(100, 60_000), 'Longest wait for the broker to confirm a message.', {
    fallback: '5000',
  }),
  SWEEP_INTERVAL: setting(text, 'node-cron expression of the sweeper, with seconds.', { fallback: '* * * * * *' }),
  SWEEP_SETTLE_SECONDS: setting(
    integer(0, 600),
    'For how long nothing goes down after a start of the sweeper, a jump of the clock or a time without the database: what others saw of that time is stored first, and clients try again.',
    { fallback: '10' },
  ),
  FLIP_RETENTION_DAYS: setting(integer(93, 3650), 'Days for which flips are kept at least.', { fallback: '93' }),
  AUDIT_RETENTION_DAYS: setting(integer(30, 36_500), 'Days for which the audit log is kept.', { fallback: '400' }),
  TWILIO_URL: setting(url(['http:', 'https:']), 'SMS, call and WhatsApp gateway with the Twilio API.', {
    fallback: 'https://api.twilio.com',
  }),
  TWILIO_ACCOUNT: setting(optionalText, 'Account SID at the gateway. Without it SMS, calls and WhatsApp are off.'),
  TWILIO_AUTH: setting(optionalText, 'Auth token at the gateway.', { secret: true }),
  TWILIO_FROM: setting(optionalText, 'Sender number at the gateway.'),
  SMS_LIMIT_PER_MONTH: setting(integer(0, 1_000_000), 'SMS and WhatsApp messages per project and month.', {
    fallback: '500',
  }),
  CALL_LIMIT_PER_MONTH: setting(integer(0, 1_000_000), 'Phone calls per project and month.', { fallback: '100' }),
  TOKEN_LIFETIME_SECONDS: setting(integer(60, 3600), 'Lifetime of OAuth access tokens.', { fallback: '900' }),
  REGISTRIES: setting(
    optionalText,
    'JSON object with a `url` and credentials per registry gateway (docs/registries). A registry not named answers MISSING.',
    { secret: true },
  ),
  CHECKPOINT_DIR: setting(
    text,
    'Folder outside the database for the newest signed checkpoint of each log: guards against a restored backup.',
    { fallback: '.local/checkpoints' },
  ),
  WITNESS_URLS: setting(list, 'Witnesses that are asked to cosign checkpoints.', { fallback: '' }),
  WITNESS_KEYS: setting(list, 'Verifier keys of those witnesses, in the same order.', { fallback: '' }),
  OTS_CALENDAR_URLS: setting(list, 'OpenTimestamps calendars that checkpoints are submitted to.', { fallback: '' }),
  OIDC_ISSUER: setting(url(['http:', 'https:']).optional(), 'OpenID Connect issuer for sign-in to the pages.'),
  OIDC_CLIENT_ID: setting(optionalText, 'Client id at the issuer.'),
  OIDC_CLIENT_SECRET: setting(optionalText, 'Client secret at the issuer.', { secret: true }),
  CRASH_AT: setting(
    optionalText,
    'Tests only: the named point at which the process kills itself. Refused in production.',
  ),
  CLOCK_SKEW_MS: setting(
    text
      .regex(/^-?\d+$/, 'is not a whole number')
      .transform(Number)
      .optional(),
    'Tests only: milliseconds by which the process takes the clock of its machine to be ahead. Refused in production.',
  ),
  NODE_ENV: setting(z.string(), '`production` switches test aids off.', { fallback: 'production' }),
} as const satisfies Record<string, Setting<unknown>>

export type Settings = {
  [Name in keyof typeof settings]: z.output<(typeof settings)[Name]['schema']>
}
