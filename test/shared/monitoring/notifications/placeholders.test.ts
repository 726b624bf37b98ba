import test from 'ava'
import { fillTemplate, type PlaceholderValues } from '#shared/monitoring/notifications/placeholders.ts'

const values: PlaceholderValues = {
  uuid: 'the-uuid',
  status: 'down',
  now: '2024-01-10T12:00:00+00:00',
  name: 'A "b"/ü',
  slug: 'a-b',
  tags: 'one two/2',
  checkJson: '{"name":"x"}',
  body: 'line\n"$NAME"',
  exitStatus: 3,
}

for (const [template, position, filled] of [
  ['$CODE $STATUS $NOW $SLUG', 'body', 'the-uuid down 2024-01-10T12:00:00+00:00 a-b'],
  ['$NAME $NAME_JSON', 'body', 'A "b"/ü "A \\"b\\"/ü"'],
  ['$TAGS|$TAG1|$TAG2|$TAG3', 'body', 'one two/2|one|two/2|$TAG3'],
  ['$JSON', 'body', '{"name":"x"}'],
  ['$BODY', 'body', 'line\n"$NAME"'],
  ['$BODY_JSON', 'body', '"line\\n\\"$NAME\\""'],
  ['$EXITSTATUS', 'body', '3'],
  ['$', 'body', '$'],
  ['$$CODE $NOPE', 'body', '$the-uuid $NOPE'],
  ['$NAMEx$STATUSES', 'body', 'A "b"/üxdownES'],
  ['/$CODE?n=$NAME&t=$NOW', 'url', '/the-uuid?n=A%20%22b%22/%C3%BC&t=2024-01-10T12%3A00%3A00%2B00%3A00'],
  ['$TAG2 $TAGS', 'url', 'two/2 one%20two/2'],
  ['$BODY$BODY_JSON', 'url', '$BODY$BODY_JSON'],
  ['$BODY', 'header', '$BODY'],
  ['$NAME ŝ 😀', 'header', 'A "b"/ü &#349; &#128512;'],
] as const) {
  test(`fills ${JSON.stringify(template)} in a ${position}`, (t) => {
    t.is(fillTemplate(template, values, position), filled)
  })
}

test('does not expand placeholders in values', (t) => {
  t.is(fillTemplate('$NAME', { ...values, name: '$CODE $' }, 'body'), '$CODE $')
})

test('reads $TAG10 as the first tag and a zero', (t) => {
  t.is(fillTemplate('$TAG10', { ...values, tags: 'a b c d e f g h i j' }, 'body'), 'a0')
})

test('without a ping, the body is empty and the exit status -1', (t) => {
  t.is(fillTemplate('[$BODY]$BODY_JSON$EXITSTATUS', { ...values, body: null, exitStatus: null }, 'body'), '[]""-1')
})

test('a name cannot end a header', (t) => {
  t.is(fillTemplate('x: $NAME', { ...values, name: 'a\r\nInjected: 1' }, 'header'), 'x: a Injected: 1')
})

test('fills the placeholders of incidents only under a policy', (t) => {
  const template = '$INCIDENT_URL $INCIDENT $ACK_URL $SEVERITY $STEP $REPEAT $GROUP_COUNT $GROUP_JSON'
  t.is(fillTemplate(template, values, 'body'), template)
  const alert = {
    what: 'repeat',
    incidentId: 'the-incident',
    url: 'https://example.org/incidents/the-incident',
    ackUrl: 'https://example.org/a/x',
    severity: 'warning',
    step: 2,
    repeat: 3,
    downAt: 0,
    steps: null,
    nextIn: null,
    recipientText: '',
    downAgo: 0,
    lateBy: 0,
    lateReason: 'REPEAT',
    suppressedBy: '',
  } as const
  const group = { count: 2, members: [{ name: 'a' }] }
  t.is(
    fillTemplate(template, { ...values, alert, group }, 'body'),
    'https://example.org/incidents/the-incident the-incident https://example.org/a/x warning 2 3 2 [{"name":"a"}]',
  )
  t.is(
    fillTemplate('/?u=$INCIDENT_URL', { ...values, alert }, 'url'),
    '/?u=https%3A//example.org/incidents/the-incident',
  )
})
