import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { guardedHost, type TestAgent } from '../builders/agents';
import { organization } from '../builders/organization';
import { Drawbridge } from '../harness/drawbridge';
import type { BenchPostgres } from './bench-postgres';
import { figure, type Figure } from './figure';
import { statementsDuring } from './statement-log';

const AGENTS = 1000;
const AT_ONCE = 20;
const WAIT_SECONDS = 30;
const OBSERVED_MS = 90_000;
const MAX_STATEMENTS = 10;
const MAX_KB = 50;

/** 1,000 agents that wait for changes, none of which come: statements of the whole product, memory of the API. */
export async function idleAgents(postgres: BenchPostgres): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start();
  try {
    const org = await organization(drawbridge, []);
    const names = Array.from({ length: AGENTS }, (_, index) => `host-${index}`);
    const agents: TestAgent[] = [];
    await inTurn(names, async (name) => {
      const agent = (await guardedHost(org, name)).agent();
      await agent.turn();
      agents.push(agent);
    });
    const before = residentKb(drawbridge.apiServer.pid);
    const stopping = new AbortController();
    const waiting = agents.map((agent) => waitOn(agent, stopping.signal));
    await pause(WAIT_SECONDS * 1000);
    const sent = await statementsDuring(postgres, drawbridge, () => pause(OBSERVED_MS));
    const each = (residentKb(drawbridge.apiServer.pid) - before) / AGENTS;
    stopping.abort();
    await Promise.all(waiting);
    return [
      figure('1,000 idle agents: statements', '/s', [sent.length / (OBSERVED_MS / 1000)], {
        atMost: MAX_STATEMENTS,
      }),
      figure('1,000 idle agents: memory of the API for each', 'kB', [each], { atMost: MAX_KB }),
    ];
  } finally {
    await drawbridge.stop();
  }
}

async function inTurn(names: readonly string[], work: (name: string) => Promise<void>): Promise<void> {
  const left = [...names];
  const lane = async (): Promise<void> => {
    for (let name = left.pop(); name !== undefined; name = left.pop()) await work(name);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

async function waitOn(agent: TestAgent, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await agent.ask({ version: agent.state!.version, waitSeconds: WAIT_SECONDS }, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

const residentKb = (pid: number): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }));
