const key = '124f983e0e3dcaeba921cfcef46efd084576e783'
const page = `https://signals.example/checks/${key}`

/** What one request must look like. */
interface Sent {
  method?: string
  url?: string
  headers?: Record<string, string>
  /** members of the JSON or form body that must be there, compared deeply */
  body?: Record<string, unknown>
  /** texts that the body must hold somewhere */
  holds?: string[]
}

/** One service: how it is configured, what it must be sent, and how it says that an address is gone. */
export interface Kind {
  kind: string
  config: (url: string) => Record<string, unknown>
  down: Sent
  /** null when recoveries are not this service's business */
  up: Sent | null
  /** an answer after which nothing can be delivered any more */
  gone: { status: number; body?: string; error: string | RegExp }
}

const incoming = (url: string) => ({ url: `${url}/hook/secret` })
const gone404 = { status: 404, error: 'Received status code 404' }
const gone410 = { status: 410, error: 'Received status code 410' }
const slackDown: Sent = {
  method: 'POST',
  url: '/hook/secret',
  holds: ['"db-backup\\" is DOWN', page, '#c62828', 'rows: 42'],
}
const slackUp: Sent = { url: '/hook/secret', holds: ['is UP, after 1 hour, 30 minutes', '#2e7d32'] }

/** The documented forms, service by service. A kind may appear twice, for a second way to be gone. */
export const kinds: Kind[] = [
  { kind: 'slack', config: incoming, down: slackDown, up: slackUp, gone: gone404 },
  {
    kind: 'slack',
    config: incoming,
    down: slackDown,
    up: slackUp,
    gone: { status: 400, body: 'invalid_token', error: 'Received status code 400' },
  },
  { kind: 'mattermost', config: incoming, down: slackDown, up: slackUp, gone: gone410 },
  {
    kind: 'rocketchat',
    config: incoming,
    down: { ...slackDown, body: { alias: 'Signalbox' } },
    up: slackUp,
    gone: gone410,
  },
  {
    kind: 'discord',
    config: incoming,
    down: { ...slackDown, url: '/hook/secret/slack' },
    up: { ...slackUp, url: '/hook/secret/slack' },
    gone: gone404,
  },
  {
    kind: 'msteamsw',
    config: incoming,
    down: {
      method: 'POST',
      url: '/hook/secret',
      body: { type: 'message' },
      holds: ['application/vnd.microsoft.card.adaptive', 'AdaptiveCard', 'is DOWN', page],
    },
    up: { holds: ['is UP'] },
    gone: gone410,
  },
  {
    kind: 'googlechat',
    config: incoming,
    down: { url: '/hook/secret', holds: ['cardsV2', 'is DOWN', page] },
    up: { holds: ['is UP'] },
    gone: gone410,
  },
  {
    kind: 'telegram',
    config: (url) => ({ base_url: url, token: '123:abc', id: -1001, thread_id: 5 }),
    down: {
      method: 'POST',
      url: '/bot123:abc/sendMessage',
      body: { chat_id: -1001, message_thread_id: 5, parse_mode: 'HTML' },
      holds: ['is DOWN', '<pre>rows: 42</pre>'],
    },
    up: { holds: ['is UP'] },
    gone: {
      status: 403,
      body: '{"ok":false,"description":"Forbidden: bot was blocked by the user"}',
      error: /bot was blocked/,
    },
  },
  {
    kind: 'matrix',
    config: (url) => ({ homeserver: `${url}/`, access_token: 'tok', room_id: '!room:example.org' }),
    down: {
      method: 'PUT',
      url: '/_matrix/client/v3/rooms/!room%3Aexample.org/send/m.room.message/a1f3c3c8-0e0c-4a3e-9a53-3f3d4f1f8a10',
      headers: { authorization: 'Bearer tok' },
      body: { msgtype: 'm.text', format: 'org.matrix.custom.html' },
      holds: ['is DOWN'],
    },
    up: { method: 'PUT', holds: ['is UP'] },
    gone: gone410,
  },
  {
    kind: 'zulip',
    config: (url) => ({ site: url, bot_email: 'bot@example.org', api_key: 'k', to: 'ops' }),
    down: {
      method: 'POST',
      url: '/api/v1/messages',
      headers: { authorization: `Basic ${Buffer.from('bot@example.org:k').toString('base64')}` },
      body: { type: 'stream', to: 'ops', topic: '"db-backup" is DOWN' },
    },
    up: { body: { topic: '"db-backup" is UP' } },
    gone: gone410,
  },
  {
    kind: 'ntfy',
    config: (url) => ({ url, topic: 'alerts', priority: 5, priority_up: 2, token: 'tk_1' }),
    down: {
      method: 'POST',
      url: '/',
      headers: { authorization: 'Bearer tk_1' },
      body: {
        topic: 'alerts',
        priority: 5,
        title: '"db-backup" is DOWN',
        markdown: true,
        tags: ['red_circle', 'prod', 'db'],
        actions: [{ action: 'view', label: 'Open the check', url: page }],
      },
    },
    up: { body: { priority: 2, title: '"db-backup" is UP' } },
    gone: gone410,
  },
  {
    kind: 'gotify',
    config: (url) => ({ url, token: 'a+b', priority: 8 }),
    down: {
      url: '/message?token=a%2Bb',
      body: {
        title: '"db-backup" is DOWN',
        priority: 8,
        extras: { 'client::display': { contentType: 'text/markdown' } },
      },
    },
    up: { body: { title: '"db-backup" is UP' } },
    gone: gone410,
  },
  {
    kind: 'po',
    config: (url) => ({ base_url: url, token: 'app', user_key: 'user', priority: 1, priority_up: -1 }),
    down: {
      url: '/1/messages.json',
      body: {
        token: 'app',
        user: 'user',
        priority: '1',
        title: '"db-backup" is DOWN',
        html: '1',
        tags: key,
        url: page,
      },
    },
    up: { url: '/1/messages.json', body: { priority: '-1', title: '"db-backup" is UP' } },
    gone: { status: 400, body: '{"user":"invalid","status":0}', error: /invalid user/ },
  },
  {
    kind: 'pushbullet',
    config: (url) => ({ base_url: url, access_token: 't' }),
    down: { url: '/v2/pushes', headers: { 'access-token': 't' }, body: { type: 'note', title: '"db-backup" is DOWN' } },
    up: { body: { title: '"db-backup" is UP' } },
    gone: gone410,
  },
  {
    kind: 'pd',
    config: (url) => ({ base_url: url, service_key: 'sk' }),
    down: {
      url: '/generic/2010-04-15/create_event.json',
      body: { service_key: 'sk', incident_key: key, event_type: 'trigger', client: 'Signalbox', client_url: page },
      holds: ['is DOWN'],
    },
    up: { body: { incident_key: key, event_type: 'resolve' } },
    gone: gone410,
  },
  {
    kind: 'opsgenie',
    config: (url) => ({ base_url: url, key: 'og' }),
    down: {
      method: 'POST',
      url: '/v2/alerts',
      headers: { authorization: 'GenieKey og' },
      body: { alias: key, source: 'Signalbox', message: '"db-backup" is DOWN', tags: ['prod', 'db'] },
    },
    up: { method: 'POST', url: `/v2/alerts/${key}/close?identifierType=alias`, body: { source: 'Signalbox' } },
    gone: gone410,
  },
  {
    kind: 'victorops',
    config: incoming,
    down: {
      body: {
        entity_id: key,
        message_type: 'CRITICAL',
        entity_display_name: '"db-backup" is DOWN',
        monitoring_tool: 'Signalbox',
      },
    },
    up: { body: { entity_id: key, message_type: 'RECOVERY' } },
    gone: gone404,
  },
  {
    kind: 'pagertree',
    config: incoming,
    down: { body: { incident_key: key, event_type: 'trigger', title: '"db-backup" is DOWN' } },
    up: { body: { event_type: 'resolve' } },
    gone: gone410,
  },
  {
    kind: 'spike',
    config: incoming,
    down: { body: { check_id: key, title: '"db-backup" is DOWN', status: 'down' } },
    up: { body: { status: 'up' } },
    gone: gone410,
  },
  {
    kind: 'github',
    config: (url) => ({ base_url: `${url}/api/v3`, repo: 'acme/ops', token: 'ghp', labels: ['alert'] }),
    down: {
      method: 'POST',
      url: '/api/v3/repos/acme/ops/issues',
      headers: { authorization: 'Bearer ghp', accept: 'application/vnd.github+json' },
      body: { title: '"db-backup" is DOWN', labels: ['alert'] },
      holds: ['rows: 42'],
    },
    up: null,
    gone: gone410,
  },
  {
    kind: 'trello',
    config: (url) => ({ base_url: url, key: 'k', token: 't', list_id: 'l1' }),
    down: { url: '/1/cards', body: { idList: 'l1', name: '"db-backup" is DOWN', key: 'k', token: 't' } },
    up: null,
    gone: gone410,
  },
  {
    kind: 'signal',
    config: (url) => ({ url, value: '+15550100', number: '+15550199' }),
    down: {
      method: 'POST',
      url: '/v2/send',
      body: { number: '+15550199', recipients: ['+15550100'] },
      holds: ['is DOWN'],
    },
    up: { holds: ['is UP'] },
    gone: { status: 400, body: '{"error":"Failed to send message: Unregistered user"}', error: 'Recipient not found' },
  },
  {
    kind: 'webhook',
    config: (url) => ({ url: `${url}/$STATUS`, body_down: '{"check": $NAME_JSON}', body_up: '$CODE' }),
    down: {
      method: 'POST',
      url: '/down',
      headers: {
        'content-type': 'application/json',
        'x-signalbox-notification': 'a1f3c3c8-0e0c-4a3e-9a53-3f3d4f1f8a10',
      },
      body: { check: 'db-backup' },
    },
    up: {
      url: '/up',
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      holds: ['803f680d-e89b-492b-82ef-2be7b774a92d'],
    },
    gone: gone410,
  },
  {
    kind: 'sms',
    config: () => ({ value: '+15550100' }),
    down: {
      method: 'POST',
      url: '/2010-04-01/Accounts/AC1/Messages.json',
      headers: { authorization: `Basic ${Buffer.from('AC1:tok').toString('base64')}` },
      body: {
        From: '+15550199',
        To: '+15550100',
        Body: 'Signalbox: The check "db-backup" is DOWN (no success signal came in time and the grace time is over).',
      },
    },
    up: { body: { Body: 'Signalbox: The check "db-backup" is UP, after 1 hour, 30 minutes.' } },
    gone: { status: 400, body: '{"code":21211}', error: 'Invalid phone number' },
  },
  {
    kind: 'whatsapp',
    config: () => ({ value: '+15550100', content_sid: 'HX1' }),
    down: {
      url: '/2010-04-01/Accounts/AC1/Messages.json',
      body: { From: 'whatsapp:+15550199', To: 'whatsapp:+15550100', ContentSid: 'HX1' },
      holds: ['is+DOWN'],
    },
    up: { holds: ['is+UP'] },
    gone: { status: 400, body: '{"code":21211}', error: 'Invalid phone number' },
  },
  {
    kind: 'call',
    config: () => ({ value: '+15550100' }),
    down: {
      url: '/2010-04-01/Accounts/AC1/Calls.json',
      body: { From: '+15550199', To: '+15550100' },
      holds: ['Response', 'is+DOWN'],
    },
    up: null,
    gone: { status: 400, body: '{"code":21211}', error: 'Invalid phone number' },
  },
]
