import { gone404, gone410, incoming, type Kind, key, page } from './form.ts'

/** Services for incidents, tickets, webhooks and phones. */
export const incidentKinds: Kind[] = [
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
      contains: ['is DOWN'],
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
      contains: ['rows: 42'],
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
      contains: ['is DOWN'],
    },
    up: { contains: ['is UP'] },
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
      contains: ['803f680d-e89b-492b-82ef-2be7b774a92d'],
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
      contains: ['is+DOWN'],
    },
    up: { contains: ['is+UP'] },
    gone: { status: 400, body: '{"code":21211}', error: 'Invalid phone number' },
  },
  {
    kind: 'call',
    config: () => ({ value: '+15550100' }),
    down: {
      url: '/2010-04-01/Accounts/AC1/Calls.json',
      body: { From: '+15550199', To: '+15550100' },
      contains: ['Response', 'is+DOWN'],
    },
    up: null,
    gone: { status: 400, body: '{"code":21211}', error: 'Invalid phone number' },
  },
]
