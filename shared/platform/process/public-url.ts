import type { z } from 'zod'

/**
 * First segments of all routes, sorted. A request below one of them would be ambiguous if PUBLIC_URL had the same path. A
 * test compares them with the routes.
 */
export const ROUTE_SEGMENTS: readonly string[] = [
  '.well-known',
  'a',
  'account',
  'api',
  'assets',
  'b',
  'badge',
  'cal',
  'checks',
  'design',
  'docs',
  'favicon.ico',
  'incidents',
  'integrations',
  'invitations',
  'livez',
  'mcp',
  'openapi.json',
  'organisations',
  'ping',
  'present',
  'projects',
  'readyz',
  'reports',
  'reset-password',
  'robots.txt',
  'schedule-preview',
  'set-up',
  'share',
  'sign-in',
  'sign-out',
  'sign-out-everywhere',
  'status',
  'v1',
  'verify',
]

const SEGMENT = /^(?!\.{1,2}$)[\w.~-]+$/

/** Refuses addresses to which no path can be added. @param schema of a URL */
export function asPublicUrl(schema: z.ZodType<string>) {
  return schema.superRefine((value, context) => {
    const message = problemOf(value)
    if (message !== null) context.addIssue({ code: 'custom', message })
  })
}

/** Returns the path of a public URL without a final slash; empty for the root. */
export function basePathOf(url: string): string {
  return (/^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(url)?.[1] ?? '').replace(/\/+$/, '')
}

function problemOf(url: string): string | null {
  if (url.includes('#')) return 'has a fragment: remove "#" and the text after it'
  if (url.includes('?')) return 'has a query: remove "?" and the text after it'
  const path = basePathOf(url)
  if (path === '') return null
  if (url.endsWith('/')) return 'ends with a slash: remove it'
  const segments = path.slice(1).split('/')
  if (!segments.every((segment) => SEGMENT.test(segment)))
    return 'has a path that is not made of letters, digits, "-", "_", "." and "~" between single slashes'
  const [first = ''] = segments
  if (!ROUTE_SEGMENTS.includes(first)) return null
  return `has a path that begins with /${first}, an address of the service itself: use another, for example /signalbox`
}
