import { readFile } from 'node:fs/promises'
import test from 'ava'
import { integrationKinds } from '#shared/monitoring/integrations/kinds.ts'

for (const [kind, { label, help }] of integrationKinds)
  test(`docs/integrations.md contains the help of ${kind}`, async (t) => {
    const manual = await readFile('docs/integrations.md', 'utf8')
    t.true(manual.includes(`### ${label} (\`${kind}\`)\n\n\`\`\`\n${help.join('\n')}\n\`\`\``))
  })
