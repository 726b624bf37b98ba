import test from 'ava'
import { riskAssets, verificationModules } from '../../../ingress/web/risk/assets.ts'
import { assets } from '../../../ingress/web/shell/assets.ts'

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
