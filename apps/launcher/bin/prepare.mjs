import { existsSync, mkdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { buildWhenStale } from '../../../tools/build.mjs';
import { codeOf, readIfPresent, ROOT } from '../../../tools/files.mjs';
import { installWhenStale } from './install.mjs';

const HEARTBEAT_TIMEOUT_MS = 15_000;

/** Brings node_modules and dist up to date. A lock file serializes concurrent commands in one folder. */
export async function prepare() {
  const release = await acquireLock(join(ROOT, 'dist'));
  try {
    await installWhenStale();
    await buildWhenStale();
  } finally {
    release();
  }
}

/**
 * @param {string} folder
 * @returns {Promise<() => void>} releases the lock
 */
async function acquireLock(folder) {
  const lock = join(folder, '.prepare-lock');
  mkdirSync(folder, { recursive: true });
  for (let isReported = false; !tryLock(lock);) {
    const holder = readHolder(lock);
    if (holder?.isGone) removeStaleLock(lock, holder.pid);
    else if (holder && !isReported) {
      console.log(`Waiting for process ${holder.pid}, which is preparing this folder...`);
      isReported = true;
    }
    await delay(200);
  }
  const heartbeat = setInterval(() => {
    if (existsSync(lock)) utimesSync(lock, new Date(), new Date());
  }, 1_000);
  return () => {
    clearInterval(heartbeat);
    rmSync(lock, { force: true });
  };
}

/** @param {string} lock */
function tryLock(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * The holder of the lock; undefined: none. Process ids are reused, so a holder must also have a heartbeat.
 * @param {string} lock
 */
function readHolder(lock) {
  const text = readIfPresent(lock);
  const touched = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
  if (text === undefined || touched === undefined) return undefined;
  const pid = Number(text);
  return { pid, isGone: Date.now() - touched > HEARTBEAT_TIMEOUT_MS || (pid > 0 && !isRunning(pid)) };
}

/**
 * Renames the file first, so that only one of several waiters succeeds; a lock that was acquired meanwhile is put back.
 * @param {string} lock
 * @param {number} holder
 */
function removeStaleLock(lock, holder) {
  const aside = `${lock}.${process.pid}`;
  try {
    renameSync(lock, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  if (readHolder(aside)?.pid === holder) rmSync(aside, { force: true });
  else renameSync(aside, lock);
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
