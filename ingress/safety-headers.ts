/**
 * Headers of every response without stricter ones: browsers neither guess its type, nor load anything with it, nor show
 * it in a frame.
 */
export const SAFETY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
} as const
