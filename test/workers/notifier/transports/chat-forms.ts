import { gone404, gone410, incoming, type Kind, key, page, slackDown, slackUp } from './form.ts'

/** Services for chat and push messages. */
export const chatKinds: Kind[] = [
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
      contains: ['application/vnd.microsoft.card.adaptive', 'AdaptiveCard', 'is DOWN', page],
    },
    up: { contains: ['is UP'] },
    gone: gone410,
  },
  {
    kind: 'googlechat',
    config: incoming,
    down: { url: '/hook/secret', contains: ['cardsV2', 'is DOWN', page] },
    up: { contains: ['is UP'] },
    gone: gone410,
  },
  {
    kind: 'telegram',
    config: (url) => ({ base_url: url, token: '123:abc', id: -1001, thread_id: 5 }),
    down: {
      method: 'POST',
      url: '/bot123:abc/sendMessage',
      body: { chat_id: -1001, message_thread_id: 5, parse_mode: 'HTML' },
      contains: ['is DOWN', '<pre>rows: 42</pre>'],
    },
    up: { contains: ['is UP'] },
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
      contains: ['is DOWN'],
    },
    up: { method: 'PUT', contains: ['is UP'] },
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
]
