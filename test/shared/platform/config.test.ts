import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { ConfigError, deprecatedSettings, loadConfig } from '#shared/platform/process/config.ts'

const good = {
  DATABASE_URL: 'postgres://user:hunter2@db/signalbox',
  AMQP_URL: 'amqp://user:hunter2@mq',
  SECRET_KEY: 'a key of thirty-two characters or more',
  NODE_ENV: 'test',
}

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

test('all problems are reported together, without values', (t) => {
  const problems = problemsOf({ ...good, DATABASE_URL: 'mysql://hunter2', SECRET_KEY: 'hunter2', PORT: 'hunter2' })
  t.deepEqual(
    problems.map((problem) => problem.split(' ')[0]),
    ['DATABASE_URL', 'PORT', 'SECRET_KEY'],
  )
  t.false(problems.some((problem) => problem.includes('hunter2')))
})

test('missing required settings are named', (t) => {
  t.deepEqual(problemsOf({ NODE_ENV: 'test' }), [
    'DATABASE_URL is not set',
    'AMQP_URL is not set',
    'SECRET_KEY is not set',
  ])
})

test('a deprecated setting that is set causes a warning with its replacement', (t) => {
  const known = { OLD_NAME: { deprecated: 'use NEW_NAME (since 1.2)' }, OTHER: { deprecated: 'unused' }, NEW_NAME: {} }
  const warning = ['OLD_NAME is deprecated: use NEW_NAME (since 1.2)']
  t.deepEqual(deprecatedSettings({ OLD_NAME: '1', OTHER: '', NEW_NAME: '2' }, known), warning)
  t.deepEqual(deprecatedSettings({ OLD_NAME_FILE: '/run/old' }, known), warning)
  t.deepEqual(loadConfig(good).warnings, [])
})

test('an empty setting is one that is not set', (t) => {
  t.is(loadConfig({ ...good, PORT: '' }).port, 8080)
  t.deepEqual(problemsOf({ ...good, AMQP_URL: '' }), ['AMQP_URL is not set'])
})

test('an empty file sets nothing, so that the variable holds', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-config-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'empty')
  writeFileSync(file, '\n')
  t.is(loadConfig({ ...good, SMTP_URL_FILE: file }).smtpUrl, undefined)
  t.is(loadConfig({ ...good, SMTP_URL_FILE: file, SMTP_URL: 'smtp://mail' }).smtpUrl, 'smtp://mail')
})

test('each setting can come from a file, but not from two places', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-config-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'secret')
  writeFileSync(file, `${good.SECRET_KEY} by file\n`)
  const { SECRET_KEY: _, ...rest } = good
  t.is(loadConfig({ ...rest, SECRET_KEY_FILE: file }).secretKey, `${good.SECRET_KEY} by file`)
  t.deepEqual(problemsOf({ ...good, SECRET_KEY_FILE: file }), ['SECRET_KEY and SECRET_KEY_FILE are both set'])
  t.deepEqual(problemsOf({ ...good, MAIL_FROM_FILE: join(folder, 'gone') }), ['MAIL_FROM_FILE cannot be read (ENOENT)'])
})

test('test aids and example secrets do not reach production', (t) => {
  t.deepEqual(problemsOf({ ...good, NODE_ENV: 'production', CRASH_AT: 'before-ack' }), [
    'CRASH_AT is refused in production',
  ])
  t.deepEqual(problemsOf({ ...good, NODE_ENV: 'production', CLOCK_SKEW_MS: '-10' }), [
    'CLOCK_SKEW_MS is refused in production',
  ])
  t.deepEqual(problemsOf({ ...good, SECRET_KEY: 'change-me-change-me-change-me-change-me' }), [
    'SECRET_KEY is the example value',
  ])
})

test('PUBLIC_URL may have a path, which is no route, has no final slash, no query and no fragment', (t) => {
  const characters = 'has a path that is not made of letters, digits, "-", "_", "." and "~" between single slashes'
  const route = (name: string) =>
    `has a path that begins with /${name}, an address of the service itself: use another, for example /signalbox`
  for (const [rest, problem] of [
    ['/hc/', 'ends with a slash: remove it'],
    ['/hc?x=1', 'has a query: remove "?" and the text after it'],
    ['/?x=1', 'has a query: remove "?" and the text after it'],
    ['/hc#top', 'has a fragment: remove "#" and the text after it'],
    ['#top', 'has a fragment: remove "#" and the text after it'],
    ['//hc', characters],
    ['/a%20b', characters],
    ['/hc/../x', characters],
    ['/h"c', characters],
    ['/ping', route('ping')],
    ['/api/hc', route('api')],
    ['/.well-known', route('.well-known')],
  ] as const)
    t.deepEqual(problemsOf({ ...good, PUBLIC_URL: `https://host.example${rest}` }), [`PUBLIC_URL ${problem}`], rest)
  for (const [rest, basePath] of [
    ['', ''],
    ['/', ''],
    [':8443//', ''],
    ['/hc', '/hc'],
    ['/pings', '/pings'],
    [':8443/Tools/hc-2.0', '/Tools/hc-2.0'],
  ] as const) {
    const address = `https://host.example${rest}`
    t.like(loadConfig({ ...good, PUBLIC_URL: address }), { publicUrl: address.replace(/\/+$/, ''), basePath }, rest)
  }
  t.is(loadConfig(good).basePath, '')
})
