// Test processes load this before AVA (`nodeArguments` in ava.config.js), which replaces `process.exit` by its own.
// A process whose work is done leaves at once. By itself Node would first wait for every request that it has not seen
// end, and one that it had lost count of (24.21, after a soak that cut connections) kept it turning in
// `Environment::CleanupHandles` for ever, with its exit told and AVA waiting.

const exit = process.exit
process.once('beforeExit', () => exit())

// One whose run was killed would live on, with all that it has started: nobody is left to end it. AVA's own messages
// decide how long the channel to the run keeps a process open, not our listening to its end.
process.once('disconnect', async () => {
  const { killBelow } = await import('../../stack/service-state.ts')
  await killBelow(process.pid).finally(() => exit(1))
})
process.channel?.unref()
