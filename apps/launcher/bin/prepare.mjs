import { existsSync, mkdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { buildWhenStale } from './build.mjs';
import { codeOf, readIfPresent } from './files.mjs';
import { installWhenStale } from './install.mjs';

const SILENT_MS = 15_000;

/**
 * Brings node_modules and dist up to date; two commands in one folder take turns.
 * @param {string} root
 */
export async function prepare(root) {
  const release = await takeTurn(join(root, 'dist'));
  try {
    await installWhenStale(root);
    await buildWhenStale(root);
  } finally {
    release();
  }
}

/**
 * @param {string} folder
 * @returns {Promise<() => void>} gives the turn back
 */
async function takeTurn(folder) {
  const lock = join(folder, '.prepare-lock');
  mkdirSync(folder, { recursive: true });
  for (let told = false; !tryToHold(lock);) {
    const holder = readHolder(lock);
    if (holder?.isGone) dropLock(lock, holder.pid);
    else if (holder && !told) {
      console.log(`Waiting for process ${holder.pid}, which is preparing this folder...`);
      told = true;
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
function tryToHold(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Who holds the lock, undefined when nobody does. Process ids come back, so a holder must also show a heartbeat.
 * @param {string} lock
 */
function readHolder(lock) {
  const text = readIfPresent(lock);
  const touched = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
  if (text === undefined || touched === undefined) return undefined;
  const pid = Number(text);
  return { pid, isGone: Date.now() - touched > SILENT_MS || (pid > 0 && !isRunning(pid)) };
}

/**
 * Renaming first makes one of several waiters win; a lock that changed hands meanwhile is put back.
 * @param {string} lock
 * @param {number} holder
 */
function dropLock(lock, holder) {
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
