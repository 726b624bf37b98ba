import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * What axe finds that matters: serious and critical, with where.
 * @param rules what alone is looked at, for a page that was looked at whole in another colour; everything by default
 */
export async function findings(page: Page, rules: readonly string[] = []): Promise<string[]> {
  // Evaluated by the debugger, which our policy against inline scripts does not concern. Once for a page that stays.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource)
  return await page.evaluate(async (only) => {
    // axe is loaded just above; its types are for modules, not for pages
    const { axe } = globalThis as unknown as {
      axe: {
        run(options: object): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>
      }
    }
    const { violations } = await axe.run({
      resultTypes: ['violations'],
      ...(only.length > 0 && { runOnly: { type: 'rule', values: only } }),
    })
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`)
  }, rules)
}
