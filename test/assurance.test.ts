import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { assurancePage, cases, heldBy, idsIn, rowsOf } from './support/assurance.ts'
import { root } from './support/imports.ts'
import { promises, promisesText, titlesIn } from './support/promises.ts'

/** Cases that no test names yet: none, and it stays so. */
const notYetHeld: readonly string[] = []

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

for (const [sentence, holders] of Object.values(promises).flatMap((sentences) => Object.entries(sentences))) {
  test(`what holds a promise is there: ${sentence}`, (t) => {
    t.true(holders.length > 0)
    for (const [file, beginning] of holders) {
      const path = join(root, file)
      t.true(existsSync(path), `${file} is not there`)
      const titles = titlesIn(readFileSync(path, 'utf8'))
      t.true(
        titles.some((title) => title.startsWith(beginning)),
        `no title in ${file} begins with ${beginning}`,
      )
    }
  })
}

test('the page has the promises as they are (make assurance)', (t) => {
  t.true(readFileSync(assurancePage, 'utf8').includes(promisesText()))
})

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
