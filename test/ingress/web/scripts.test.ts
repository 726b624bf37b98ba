import test from 'ava'
import { h } from 'preact'
import { render } from 'preact-render-to-string'
import { riskAssets, verificationModules } from '../../../ingress/web/risk/assets.ts'
import { assets } from '../../../ingress/web/shell/assets.ts'
import { PageAssets } from '../../../ingress/web/shell/page-assets.tsx'

const served = [...Object.values(assets), ...Object.values(riskAssets), ...verificationModules]
const scripts = served.filter(({ type }) => type.startsWith('text/javascript'))

test('no served script has more than 300 lines', (t) => {
  t.true(scripts.length >= 10)
  for (const { path, content } of scripts) t.true(content.toString().split('\n').length <= 301, path)
})

test('scripts import only served scripts by their hashed names', (t) => {
  const paths = new Set(scripts.map(({ path }) => path))
  const imports = scripts.flatMap(({ content }) =>
    [...content.toString().matchAll(/ from '([^']+)'/g)].map(([, name = '']) => name),
  )
  t.true(imports.length >= 9)
  for (const name of imports) t.true(paths.has(name.replace(/^\.\//, '/assets/')), name)
})

test('a page is not shown before its scripts have run', (t) => {
  const used = [assets.script, assets.live]
  const tags = render(h(PageAssets, { scripts: used })).match(/<script[^>]*>/g)
  t.deepEqual(tags?.length, used.length)
  for (const tag of tags ?? []) t.regex(tag, / blocking="render"/)
})
