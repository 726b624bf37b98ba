import test from 'ava'
import { parsePingPath, parsePingQuery } from '#shared/monitoring/pings/url.ts'
import { isUuid } from '#shared/uuid.ts'

const uuid = '803f680d-e89b-492b-82ef-2be7b774a92d'

for (const [path, kind, exitStatus] of [
  ['', 'success', null],
  ['/', 'success', null],
  ['/start', 'start', null],
  ['/fail', 'fail', null],
  ['/log', 'log', null],
  ['/0', 'success', 0],
  ['/007', 'fail', 7],
  ['/255', 'fail', 255],
  ['/256', 'fail', 256],
] as const) {
  test(`<uuid>${path} is a ${kind} of the check with that uuid`, (t) => {
    t.deepEqual(parsePingPath(uuid + path), { form: 'uuid', uuid, kind, exitStatus })
  })
}

for (const [path, slug, kind, exitStatus] of [
  ['key/job', 'job', 'success', null],
  ['K-e_Y/job/start', 'job', 'start', null],
  ['key/job/fail', 'job', 'fail', null],
  ['key/job/log', 'job', 'log', null],
  ['key/job/42', 'job', 'fail', 42],
  ['key/start', 'start', 'success', null],
  ['key/0', '0', 'success', null],
  [`${uuid}/bogus`, 'bogus', 'success', null],
  [`${uuid}/-1`, '-1', 'success', null],
  [`${uuid}/job/start`, 'job', 'start', null],
  ['key/j%6fb', 'job', 'success', null],
] as const) {
  test(`${path} is a ${kind} of the check with the slug ${slug}`, (t) => {
    t.deepEqual(parsePingPath(path), { form: 'slug', pingKey: path.split('/')[0], slug, kind, exitStatus })
  })
}

for (const path of ['key/Job', `${uuid}/START`, 'key/Job/start']) {
  test(`${path} has an upper-case slug`, (t) => {
    t.deepEqual(parsePingPath(path), { form: 'bad-slug' })
  })
}

for (const path of [
  '',
  '/',
  'key',
  'key/',
  '/job',
  'key/job/',
  'key/job/bogus',
  'key/Job/bogus',
  'key/job/start/',
  'key/job/1/2',
  'key/jo.b',
  'ke y/job',
  `${uuid}/start/`,
  uuid.toUpperCase(),
  uuid.replaceAll('-', ''),
  `{${uuid}}`,
  `${uuid}x`,
  'key/%zz',
  'key/job%0A',
  'key/job/٣',
]) {
  test(`${JSON.stringify(path)} is not a ping path`, (t) => {
    t.deepEqual(parsePingPath(path), { form: 'none' })
  })
}

const upper = uuid.toUpperCase()
for (const [query, rid, create] of [
  ['', undefined, false],
  ['other=1', undefined, false],
  [`rid=${uuid}`, uuid, false],
  [`rid=${upper}&create=1`, uuid, true],
  [`rid=x&rid=${uuid}`, uuid, false],
  [`rid=${uuid}&rid=x`, null, false],
  ['rid=', null, false],
  ['rid', null, false],
  [`rid=${uuid}%0A`, null, false],
  [`rid=%7B${uuid}%7D`, null, false],
  ['create=true', undefined, false],
  ['create=1&create=0', undefined, false],
  ['create=0&create=1', undefined, true],
] as const) {
  test(`the query ${JSON.stringify(query)} is read`, (t) => {
    t.deepEqual(parsePingQuery(query), { rid, create, source: null })
  })
}

test('the last of several source names applies', (t) => {
  t.is(parsePingQuery('source=a').source, 'a')
  t.is(parsePingQuery('source=a&source=b%20c').source, 'b c')
  t.is(parsePingQuery('source=').source, '')
})

test('a uuid in a path has dashes and lower case', (t) => {
  t.true(isUuid(uuid))
  for (const text of [upper, `${uuid}\n`, uuid.slice(1), 'not-uuid']) t.false(isUuid(text))
})
