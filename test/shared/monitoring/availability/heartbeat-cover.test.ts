import test from 'ava'
import { type Arrival, createCover } from '#shared/monitoring/availability/heartbeat-store.ts'

const at = (monotonic: number, wall = monotonic): Arrival => ({ monotonic, wall })

test('before the first heartbeat only confirmed pings are answered', (t) => {
  const cover = createCover(5_000)
  t.true(cover.mayAnswer(at(0), at(400)))
  t.false(cover.mayAnswer(at(0), at(700)))
  cover.extend(650, at(700))
  t.false(cover.mayAnswer(at(0), at(800)), 'a sweep may not have seen the ping')
  t.true(cover.mayAnswer(at(700), at(5_600)))
})

test('a ping may be answered within the time that the heartbeat states', (t) => {
  const cover = createCover(5_000)
  cover.extend(0, at(1))
  t.true(cover.mayAnswer(at(10), at(5_010)))
  t.false(cover.mayAnswer(at(10), at(5_011)))
})

test('time in which the machine was asleep counts', (t) => {
  const cover = createCover(5_000)
  cover.extend(0, at(1))
  t.false(cover.mayAnswer(at(10), at(20, 60_000)))
})

test('a listener without stored heartbeats answers only confirmed pings until they are stored again', (t) => {
  const cover = createCover(5_000)
  cover.extend(0, at(1))
  t.true(cover.mayAnswer(at(97_000), at(99_000)), 'the last heartbeat stays valid for some seconds')
  t.false(cover.mayAnswer(at(99_000), at(101_000)))
  t.true(cover.mayAnswer(at(101_000), at(101_300)))
  cover.extend(101_500, at(102_000))
  t.false(cover.mayAnswer(at(101_000), at(103_000)), 'the ping arrived after the last heartbeat had expired')
  t.true(cover.mayAnswer(at(102_000), at(104_000)))
})

test('a delayed heartbeat expires relative to the time when it was sent', (t) => {
  const cover = createCover(5_000)
  cover.extend(0, at(90_000))
  t.true(cover.mayAnswer(at(95_000), at(99_000)))
  t.false(cover.mayAnswer(at(99_000), at(100_001)))
})
