import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { assets } from '../../ingress/web/shell/assets.ts'
import { root } from '../support/imports.ts'

test('a class of the risk pages is not styled by the stylesheet of all pages', (t) => {
  const classesOf = (css: string) => new Set([...css.matchAll(/^\.([\w-]+) \{/gm)].map(([, name]) => name))
  const shell = classesOf(String(assets.style.content))
  const risk = classesOf(readFileSync(join(root, 'ingress/web/risk/risk.css'), 'utf8'))
  t.true(shell.size > 100)
  t.deepEqual(
    [...risk].filter((name) => shell.has(name)),
    [],
  )
})
