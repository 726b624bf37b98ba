// Each test file runs in its own process on its own database and broker vhost (test/support), so files are independent.
export default {
  files: ['test/**/*.test.ts', 'test/**/*.test.tsx'],
  extensions: ['ts', 'tsx'],
  nodeArguments: ['--import=./test/support/load-typescript.ts', '--import=./test/support/exit-at-once.ts'],
  require: ['./test/support/record-progress.ts'],
  environmentVariables: { NODE_ENV: 'test' },
  timeout: '5m',
  workerThreads: false,
}
