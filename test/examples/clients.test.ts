import { spawnSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { root } from '../support/imports.ts'
import { makeCredentials } from '../support/platform-client.ts'
import { addProject } from '../support/projects.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { blocksRunBy, sharedProduct, shell } from './walkthrough.ts'

const blocks = blocksRunBy('docs/clients.md', import.meta.filename)

/** openapi-typescript calls the compiler's JavaScript API, which TypeScript 7 does not have. */
const HOOK = `import { registerHooks } from 'node:module'
registerHooks({
  resolve: (name, context, next) =>
    next(name === 'typescript' && context.parentURL?.includes('/openapi-typescript/') ? 'typescript-5' : name, context),
})`

/** Creates a project and a client for one example. */
async function prepare() {
  const product = await sharedProduct()
  const { rwKey } = await addProject(product.deps)
  const { clientId, clientSecret } = await makeCredentials(product)
  const cwd = temporaryFolder('clients')
  symlinkSync(join(root, 'node_modules'), join(cwd, 'node_modules'))
  const textOf = (language: string) => blocks.find((block) => block.language === language)?.text ?? ''
  const env = { SIGNALBOX_URL: product.url, API_KEY: rwKey, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret }
  return { product, cwd, textOf, env }
}

test('a client that openapi-typescript generates creates a check and polls a pack', async (t) => {
  const { product, cwd, textOf, env } = await prepare()
  writeFileSync(join(cwd, 'hook.mjs'), HOOK)
  const npx = `#!/bin/sh\nname=$1; shift\nexec '${process.execPath}' --import ./hook.mjs "node_modules/.bin/$name" "$@"\n`
  writeFileSync(join(cwd, 'npx'), npx, { mode: 0o755 })
  // The packages are those of the checkout, in the versions that the page names.
  const npm = `#!/bin/sh\ntest "$*" = 'install openapi-fetch openapi-typescript typescript@5'\n`
  writeFileSync(join(cwd, 'npm'), npm, { mode: 0o755 })
  const generated = await shell(textOf('sh'), { bin: cwd, cwd, ...env })
  t.is(generated.code, 0, generated.out)
  writeFileSync(join(cwd, 'client.mts'), textOf('ts'))
  const options =
    '--noEmit --strict --noUncheckedIndexedAccess --module nodenext --allowImportingTsExtensions --types node'
  const types = await shell(`'${process.execPath}' node_modules/typescript-5/bin/tsc ${options} client.mts`, { cwd })
  t.is(types.code, 0, types.out)
  const { code, out } = await shell(`'${process.execPath}' client.mts`, { cwd, ...env })
  t.is(code, 0, out)
  t.regex(out, /^report up\n[0-9a-f-]{36} CLEAR$/m)
  const response = await fetch(`${product.url}/api/v3/checks/?slug=report`, { headers: { 'X-Api-Key': env.API_KEY } })
  t.is((await response.json()).checks[0].n_pings, 1)
})

test('the client in Go creates a check and polls a pack', async (t) => {
  if (spawnSync('go', ['version']).status !== 0) {
    t.log('NOT CHECKED: go is not on this machine')
    t.pass()
    return
  }
  const { cwd, textOf, env } = await prepare()
  writeFileSync(join(cwd, 'main.go'), textOf('go'))
  const { code, out } = await shell('go vet main.go && go run main.go', { cwd, ...env })
  t.is(code, 0, out)
  // The example in TypeScript has requested the same order, which both packs then report.
  t.regex(out, /^report up\n[0-9a-f-]{36} (?:CLEAR|ATTENTION)$/m)
})
