import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Axe {
  run(options: object): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>
  _audit: { rules: { id: string; impact?: string }[] }
}

/**
 * Returns the serious and critical findings of axe, with the elements.
 * @param only the rules to run; by default all rules that can be serious or critical
 */
export async function findings(page: Page, only: readonly string[] = []): Promise<string[]> {
  // The debugger evaluates the source, so that the page's policy against inline scripts does not apply.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource)
  return await page.evaluate(async (only) => {
    // The types of axe are for modules, not for pages.
    const { axe } = globalThis as unknown as { axe: Axe }
    // The impact of a rule replaces that of its checks, so these rules cannot have a finding that counts.
    const lesser = axe._audit.rules.filter(({ impact }) => impact === 'minor' || impact === 'moderate')
    const { violations } = await axe.run({
      resultTypes: ['violations'],
      ...(only.length > 0
        ? { runOnly: { type: 'rule', values: only } }
        : { rules: Object.fromEntries(lesser.map(({ id }) => [id, { enabled: false }])) }),
    })
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`)
  }, only)
}
