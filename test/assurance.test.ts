import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { assurancePage, cases, heldBy, idsIn, rowsOf } from './support/assurance.ts'
import { root } from './support/imports.ts'

/** Cases that no test names yet. It only ever gets shorter. */
const notYetHeld: readonly string[] = ['B40', 'F20']

const rows = rowsOf(readFileSync(assurancePage, 'utf8'))

for (const id of Object.keys(cases).filter((it) => !notYetHeld.includes(it))) {
  test(`docs/assurance.md says what holds case ${id}, and it does`, (t) => {
    const files = rows.get(id) ?? []
    t.true(files.length > 0, `${id} has no row: name it in the title of its test, and run make assurance`)
    for (const file of files) {
      t.true(existsSync(join(root, file)), `${file} is not there`)
      t.true(idsIn(readFileSync(join(root, file), 'utf8')).has(id), `no title in ${file} names ${id}`)
    }
  })
}

test('the page lists no case that there is not', (t) => {
  for (const id of rows.keys()) t.true(Object.hasOwn(cases, id), id)
})

test('what is not yet held is a case, and no test holds it', (t) => {
  const held = heldBy()
  for (const id of notYetHeld) t.true(Object.hasOwn(cases, id) && !rows.has(id), id)
  t.true(held.size > 0)
})

test('the ids of a title are found in every way titles are written', (t) => {
  t.deepEqual([...idsIn("test('B01, F02: x', (t) => {})")], ['B01', 'F02'])
  t.deepEqual([...idsIn('test.serial(\n  `H1 and M12`, (t) => {})')], ['H1', 'M12'])
  t.deepEqual([...idsIn("// B01\nconst L3 = test('a title of H9 and <h1>', () => 'B02')")], [])
})
