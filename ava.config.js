// `test/run.ts` groups test files: the files of a group run in one process (docs/testing.md).
export default {
  files: ['test/**/*.test.ts', 'test/**/*.test.tsx', 'test/.groups/**/*.test.ts'],
  extensions: ['ts', 'tsx'],
  nodeArguments: ['--import=./test/support/load-typescript.ts', '--import=./test/support/exit-at-once.ts'],
  environmentVariables: { NODE_ENV: 'test' },
  // One test at a time in each process, so that deadlines of the product hold on a busy machine.
  serial: true,
  timeout: '5m',
  workerThreads: false,
}
