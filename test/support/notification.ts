import type { AlertLinks, Notification } from '#shared/monitoring/notifications/notification.ts'

/** 2026-01-31T10:00:00Z */
export const flipTime = Date.UTC(2026, 0, 31, 10) * 1000

/** Of the first message of a policy, to an integration. */
export const alert = {
  incidentId: 'b1f3c3c8-0e0c-4a3e-9a53-3f3d4f1f8a10',
  what: 'first',
  severity: 'critical',
  downAt: flipTime,
  step: 1,
  repeat: 0,
  url: 'https://signals.example/incidents/b1',
  ackUrl: 'https://signals.example/a/b1',
  steps: null,
  nextIn: null,
  recipientText: '',
  downAgo: 0,
  lateBy: 0,
  lateReason: 'FIRST',
  suppressedBy: '',
} as const satisfies AlertLinks

/** A failure of the check "db-backup"; parts of it may be replaced. */
export function someNotification(overrides: Partial<Notification> = {}): Notification {
  return {
    id: 'a1f3c3c8-0e0c-4a3e-9a53-3f3d4f1f8a10',
    status: 'down',
    reason: 'timeout',
    flipAt: flipTime,
    downFor: null,
    integration: { id: 'c0ffee00-0000-4000-8000-000000000001', name: 'Alerts', isEmailVerified: true },
    check: {
      uuid: '803f680d-e89b-492b-82ef-2be7b774a92d',
      name: 'db-backup',
      slug: 'db-backup',
      tags: 'prod db',
      desc: 'Nightly dump',
      uniqueKey: '124f983e0e3dcaeba921cfcef46efd084576e783',
      nPings: 7,
      json: '{"name": "db-backup", "status": "down"}',
      kind: 'simple',
      timeoutSeconds: 3600,
      graceSeconds: 60,
      schedule: '',
      tz: 'UTC',
    },
    projectName: 'Ledger',
    lastPing: {
      n: 7,
      type: 'success',
      at: flipTime - 3_660_000_000,
      scheme: 'http',
      method: 'POST',
      remoteAddr: '203.0.113.9',
      ua: 'curl/8.5',
      exitStatus: null,
      body: Buffer.from('rows: 42'),
    },
    urls: {
      site: 'https://signals.example',
      check: 'https://signals.example/checks/124f983e0e3dcaeba921cfcef46efd084576e783',
      unsubscribe: 'https://signals.example/unsubscribe/abc',
    },
    timeZone: 'Europe/Riga',
    overview: null,
    isTest: false,
    ...overrides,
  }
}

/** The recovery of the same check. */
export function someRecovery(overrides: Partial<Notification> = {}): Notification {
  return someNotification({ status: 'up', reason: '', downFor: 5_400_000_000, ...overrides })
}
