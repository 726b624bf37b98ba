import type { PathParam } from '../route.ts'

/** An id in a path. Any text: one that is none of ours is answered like one of somebody else's. */
export function idParam(description: string): PathParam {
  return { pattern: '[^/]{1,300}', description, example: '6f1c9a52-3d0b-4b7e-9d57-0a4f2c8e1b33' }
}
