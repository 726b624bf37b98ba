import type { Route } from '../route.ts'

/** Every operation under `/v1`. */
export const platformRoutes: readonly Route[] = []
