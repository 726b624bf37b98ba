import test from 'ava'
import { hashPassword, passwordProblem, verifyPassword } from '#shared/tenancy/accounts/password.ts'
import { may, normalEmail, type Right, type Role } from '#shared/tenancy/accounts/roles.ts'

const rights: Record<Role, Right[]> = {
  owner: ['view', 'respond', 'edit', 'manage', 'own'],
  manager: ['view', 'respond', 'edit', 'manage'],
  member: ['view', 'respond', 'edit'],
  responder: ['view', 'respond'],
  'read-only': ['view'],
}
for (const role of ['owner', 'manager', 'member', 'responder', 'read-only'] as const)
  test(`a ${role} may only ${rights[role].join(', ')}`, (t) => {
    for (const right of ['view', 'respond', 'edit', 'manage', 'own'] as const) {
      t.is(may(role, right), rights[role].includes(right), right)
    }
  })

for (const [typed, normal] of [
  [' Ada@Example.COM ', 'ada@example.com'],
  ['a+b@mail.example', 'a+b@mail.example'],
  ['two@x.example, three@x.example', null],
  ['"quoted"@x.example', null],
  ['ada@', null],
  ['ada@example.com\nBcc: eve@example.com', null],
] as const)
  test(`the address ${JSON.stringify(typed)} is ${normal === null ? 'refused' : `stored as ${normal}`}`, (t) => {
    t.is(normalEmail(typed), normal)
  })

for (const [password, isFine] of [
  ['short', false],
  ['aaaaaaaaaaaaaaaa', false],
  ['ada.lovelace@example.com', false],
  ['passwordpassword', false],
  ['Password-Password', false],
  ['abcdabcdabcdabcd', false],
  ['qwertyuiop123456', false],
  ['sunshine-iloveyou', false],
  ['signalbox-monitoring-2026', false],
  ['HarbourWatch!2026', false],
  ['lovelace@example.1815', false],
  ['lovelace writes engines', true],
  ['four words rarely joined', true],
  ['correct horse battery', true],
  ['пароль из слов', true],
] as const)
  test(`the password ${JSON.stringify(password)} is ${isFine ? 'accepted' : 'refused'}`, (t) => {
    t.is(passwordProblem(password, { email: 'ada.lovelace@example.com', siteName: 'Harbour Watch' }) === null, isFine)
  })

test('a password is stored as argon2id and verified', async (t) => {
  const stored = await hashPassword('four words rarely joined')
  t.regex(stored, /^\$argon2id\$/)
  t.true(await verifyPassword(stored, 'four words rarely joined'))
  t.false(await verifyPassword(stored, 'four words rarely joint'))
  t.false(await verifyPassword(null, 'no user has this password'))
})
