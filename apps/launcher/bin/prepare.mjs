import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { buildWhenStale } from './build.mjs';
import { installWhenStale } from './install.mjs';

/** Brings node_modules and dist up to date; two commands in one folder take turns. */
export async function prepare(root) {
  const release = await takeTurn(join(root, 'dist'));
  try {
    await installWhenStale(root);
    await buildWhenStale(root);
  } finally {
    release();
  }
}

/** @returns a function that gives the turn back */
async function takeTurn(folder) {
  const lock = join(folder, '.prepare-lock');
  mkdirSync(folder, { recursive: true });
  for (let told = false; !tryToHold(lock); told = true) {
    const holder = readHolder(lock);
    if (holder?.isGone) dropLock(lock, holder.pid);
    else if (holder && !told)
      console.log(`Waiting for process ${holder.pid}, which is preparing this folder...`);
    await delay(200);
  }
  const heartbeat = setInterval(() => existsSync(lock) && utimesSync(lock, new Date(), new Date()), 1_000);
  return () => {
    clearInterval(heartbeat);
    rmSync(lock, { force: true });
  };
}

function tryToHold(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Who holds the lock, undefined when nobody does. Process ids come back, so a holder must also show a heartbeat. */
function readHolder(lock) {
  try {
    const pid = Number(readFileSync(lock, 'utf8'));
    const isSilent = Date.now() - statSync(lock).mtimeMs > 15_000;
    return { pid, isGone: isSilent || (pid > 0 && !isRunning(pid)) };
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Renaming first makes one of several waiters win; a lock that changed hands meanwhile is put back. */
function dropLock(lock, holder) {
  const aside = `${lock}.${process.pid}`;
  try {
    renameSync(lock, aside);
  } catch (error) {
    if (error.code === 'ENOENT') return;
    throw error;
  }
  if (readHolder(aside)?.pid === holder) rmSync(aside, { force: true });
  else renameSync(aside, lock);
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
