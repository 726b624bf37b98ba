import type { Asset } from './asset.ts'
import { assets } from './assets.ts'

/**
 * Loads the style and the scripts of a page before it is shown. Otherwise a click before a script runs would, for
 * example, leave the page for the text of a ping.
 */
export function PageAssets({ scripts = [assets.script] }: { scripts?: readonly Asset[] }) {
  return (
    <>
      <link rel="stylesheet" href={assets.style.path} />
      {scripts.map(({ path }) => (
        <script src={path} key={path} defer {...{ blocking: 'render' }} />
      ))}
    </>
  )
}
