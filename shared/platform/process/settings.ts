import { z } from 'zod'
import { poolers } from '../database/server.ts'
import { asPublicUrl } from './public-url.ts'
import {
  databaseUrl,
  integer,
  list,
  optionalInteger,
  optionalText,
  port,
  privateTargets,
  type Setting,
  secretKey,
  setting,
  text,
  url,
  urls,
} from './setting.ts'

/** docs/settings.md is generated from this table. */
export const settings = {
  DATABASE_URL: setting(
    databaseUrl,
    'PostgreSQL 15 or newer. A primary and its standbys with commas between the hosts, `postgres://user:password@one:5432,two:5432/name`: connections go to the primary.',
    { secret: true },
  ),
  DATABASE_OWNER_URL: setting(
    databaseUrl.optional(),
    'Only for migrations: the login that owns the tables. They then make the login of `DATABASE_URL`, which owns nothing and which row security binds.',
    { secret: true },
  ),
  AMQP_URL: setting(
    urls(['amqp:', 'amqps:']),
    'RabbitMQ 3.10 or newer, with the virtual host as its path. The nodes of a cluster with commas between them: each process starts with any of them and tries the next one after a failure.',
    { secret: true },
  ),
  AMQP_ADMIN_URL: setting(
    urls(['http:', 'https:']).optional(),
    'The management plugin of RabbitMQ, `http://user:password@host:15672`; of several nodes with commas between them. With it doctor and the metrics see the members and leaders of queues, and `admin broker repair` mends them. The user needs the tag `monitoring`, to repair `administrator`.',
    { secret: true },
  ),
  HOST: setting(
    text,
    'Address that the HTTP server and the e-mail ping listener use; `make up` sets `127.0.0.1`. On any but a loopback address, missing and well-known passwords, a database login that is a superuser or has BYPASSRLS, keys with few different characters and secret files open to other users are refused.',
    { fallback: '0.0.0.0' },
  ),
  PORT: setting(port, 'Port of the HTTP server.', { fallback: '8080' }),
  PUBLIC_URL: setting(
    asPublicUrl(url(['http:', 'https:'])).optional(),
    'Address that users reach the service at: scheme, host, port and, if the proxy gives it only a part of the host, a path without a final slash. Every link is built from it. Default: `http://localhost:PORT`.',
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
    '`true` accepts a `METRICS_HOST` beyond the loopback: all hosts that reach it can read `/metrics` and the reasons of `/readyz`.',
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
    'Number of ping queues that a new installation begins with; later `admin shards set` changes it, for every process and while they run. More than one only where one broker queue is the limit: each costs messages.',
    { fallback: '1' },
  ),
  CHECK_CACHE_SECONDS: setting(
    integer(1, 3600),
    'Maximum age of a cached check on the ping path. Checks that are pinged are refreshed after half of this time. While the database is unavailable, cached checks are used for a day.',
    { fallback: '30' },
  ),
  PING_BODY_LIMIT: setting(integer(0, 1_000_000), 'Bytes of a ping body that are stored and searched.', {
    fallback: '10000',
  }),
  PING_LOG_LIMIT: setting(integer(1, 100_000), 'Pings kept per check.', { fallback: '1000' }),
  KEPT_FAILURES: setting(
    integer(0, 100),
    'Newest failures of a check that are kept with their bodies after the log has dropped them; 0 keeps none.',
    { fallback: '20' },
  ),
  PING_RATE_LIMIT_PER_MINUTE: setting(
    integer(0, 10_000_000),
    'Pings per check and minute, per process: what is beyond is not logged, and counted on the page of the check; 0 is no limit.',
    { fallback: '60000' },
  ),
  CHECK_LIMIT: setting(
    integer(0, 100_000_000),
    'Maximum number of checks of a project without a separate limit; pings with `create=1` create up to twice as many. The owners are notified once.',
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
    { fallback: '6000' },
  ),
  PUBLIC_RATE_LIMIT_PER_MINUTE: setting(
    integer(0, 10_000_000),
    'Look-ups under /v1 without an access token per address and minute, per process, and as many verifications of anchors; 0 is no limit.',
    { fallback: '600' },
  ),
  PAGE_RATE_LIMIT_PER_MINUTE: setting(
    integer(0, 10_000_000),
    'Requests for pages without a session per address (IPv6: per /64) and minute, per process; 0 is no limit. Behind a proxy that is not among TRUSTED_PROXIES all visitors have one address.',
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
    { fallback: '100000' },
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
  DATABASE_POOLER: setting(
    z.enum(poolers),
    'Pooler behind `DATABASE_URL`: `none`, or one that keeps a session for each connection (`session`) or for each transaction (`transaction`). A pooler that behaves differently is refused.',
    { fallback: 'none' },
  ),
  DATABASE_SYNC_STANDBYS: setting(
    integer(0, 9),
    'Standbys that a commit has to wait for in this installation; fewer are a finding of doctor and an alert.',
    { fallback: '0' },
  ),
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
  WATCHDOG_URL: setting(
    url(['http:', 'https:']).optional(),
    'Address at a monitor elsewhere, which the sweeper fetches once a minute while sweeps complete, pings can be accepted and nothing has been due for two minutes: that monitor notices when this installation stops.',
    { secret: true },
  ),
  FLIP_RETENTION_DAYS: setting(integer(93, 3650), 'Days for which flips are kept at least.', { fallback: '93' }),
  AUDIT_RETENTION_DAYS: setting(integer(30, 36_500), 'Days for which the audit log is kept.', { fallback: '400' }),
  TWILIO_URL: setting(url(['http:', 'https:']), 'SMS, call and WhatsApp gateway with the Twilio API.', {
    fallback: 'https://api.twilio.com',
  }),
  TWILIO_ACCOUNT: setting(optionalText, 'Account SID at the gateway. Without it SMS, calls and WhatsApp are off.'),
  TWILIO_AUTH: setting(optionalText, 'Auth token at the gateway.', { secret: true }),
  TWILIO_FROM: setting(optionalText, 'Sender number at the gateway.'),
  APPRISE_URL: setting(
    url(['http:', 'https:']).optional(),
    'Address of an Apprise API, which sends for integrations of the kind `apprise`. Without it they are off. Projects choose where it sends, so restrict its egress: only IP addresses and local names in their addresses are checked here.',
  ),
  SHELL_ENABLED: setting(
    z.stringbool({ truthy: ['true'], falsy: ['false'], error: 'is neither true nor false' }),
    'Enables integrations of type `shell`, which run commands as the user of the notifier. Every user who can create integrations can then run any command there.',
    { fallback: 'false' },
  ),
  BOUNCE_DOMAIN: setting(
    optionalText,
    'Domain of the envelope sender of alert mails. What comes to it must be posted, mail by mail, to /api/v3/bounces/. A bounce then disables the integration of an address that does not exist.',
  ),
  SMS_LIMIT_PER_MONTH: setting(integer(0, 1_000_000), 'SMS and WhatsApp messages per account and month.', {
    fallback: '500',
  }),
  CALL_LIMIT_PER_MONTH: setting(integer(0, 1_000_000), 'Phone calls per account and month.', { fallback: '100' }),
  TOKEN_LIFETIME_SECONDS: setting(integer(60, 3600), 'Lifetime of OAuth access tokens.', { fallback: '900' }),
  REGISTRIES: setting(
    optionalText,
    'JSON object with a `url` and credentials per registry gateway (docs/registries). The evidence of a registry not named is MISSING.',
    { secret: true },
  ),
  CHECKPOINT_DIR: setting(
    text,
    'Folder outside the database and its backups, for the newest signed checkpoint of each log and for marks of the database: guards against a restored backup.',
    { fallback: '.local/checkpoints' },
  ),
  OID4VP_CERT: setting(
    optionalText,
    'Certificate chain (PEM) with which requests to wallets are signed, its name that of PUBLIC_URL; goes with `OID4VP_KEY`. Without it production presents no requests.',
  ),
  OID4VP_KEY: setting(optionalText, 'Private key (PEM, P-256) of that certificate.', { secret: true }),
  OID4VP_CA: setting(
    optionalText,
    'Certificates (PEM) beside the public ones to which servers of status lists and of issuers may chain.',
  ),
  WITNESS_URLS: setting(list, 'Witnesses that cosign checkpoints.', { fallback: '' }),
  WITNESS_KEYS: setting(list, 'Verifier keys of those witnesses, in the same order.', { fallback: '' }),
  OTS_CALENDAR_URLS: setting(list, 'OpenTimestamps calendars that checkpoints are submitted to.', { fallback: '' }),
  OIDC_ISSUER: setting(url(['http:', 'https:']).optional(), 'OpenID Connect issuer for sign-in to the pages.'),
  OIDC_NAME: setting(text, 'Name of the issuer on the button “Sign in with …”.', {
    fallback: 'single sign-on',
  }),
  OIDC_CLIENT_ID: setting(optionalText, 'Client id at the issuer.'),
  OIDC_CLIENT_SECRET: setting(optionalText, 'Client secret at the issuer.', { secret: true }),
  IMPORT_API_KEY: setting(optionalText, 'For `admin import-from`: API key of the other service.', { secret: true }),
  IMPORT_DATABASE_URL: setting(optionalText, 'For `admin import-from`: database of Healthchecks.', { secret: true }),
  TRACES_URL: setting(
    url(['http:', 'https:']).optional(),
    'A collector of OpenTelemetry traces (OTLP over HTTP, as JSON); `/v1/traces` is added. Without it there are none.',
  ),
  TRACES_PERCENT: setting(integer(0, 100), 'Requests and pings of a hundred that are traced.', { fallback: '10' }),
  CRASH_AT: setting(
    optionalText,
    'Tests only: the named point at which the process kills itself. Refused in production.',
  ),
  CLOCK_SKEW_MS: setting(
    optionalInteger,
    'Tests only: milliseconds by which the process takes the clock of its machine to be ahead. Refused in production.',
  ),
  NODE_ENV: setting(z.string(), '`production` switches test aids off.', { fallback: 'production' }),
} as const satisfies Record<string, Setting<unknown>>

export type Settings = {
  [Name in keyof typeof settings]: z.output<(typeof settings)[Name]['schema']>
}
