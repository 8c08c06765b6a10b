import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ActionBench } from '../builders/programs/action-bench';
import { processesOf } from '../harness/product/action-job';
import { AddressProxy } from '../harness/network/address-proxy';
import { CommandLine } from '../harness/product/command-line';
import { node24 } from '../harness/machines/node-24';
import { until } from '../harness/until';
import { figure, type Figure } from './figure';
import { freshAddress } from './load';

const AWAY_SECONDS = [2, 20, 120];
const MAX_SECONDS = 10;
/** A job whose stop is answered before this says nothing of a latest end. */
const TOLD_FROM_SECONDS = 20;
const LATEST = /ends at .+ at the latest/;

/** One job of a CI system. */
interface Job {
  /** Gets access through a server's address. */
  begin(url: string): Promise<void>;
  /** Ends its work, waits for what gave the access, and ends all that the runner finds of it. @returns what it has said */
  end(): Promise<string>;
}

interface Ending {
  /** from the API's return until the cloud has closed what the job had */
  readonly seconds: number;
  readonly isLatestTold: boolean;
}

/** @returns the API's return */
type Lack = (proxy: AddressProxy) => Promise<() => Promise<void>>;

const LACKS: Readonly<Record<string, Lack>> = {
  'is away': async (proxy) => {
    const port = await proxy.sever();
    return () => proxy.restore(port);
  },
  'never answers': (proxy) => {
    proxy.answerInstead = () => true;
    return Promise.resolve(async () => {
      proxy.answerInstead = null;
    });
  },
};

/** CI jobs at whose end the API is away, or accepts and never answers, side by side. */
export async function closing(): Promise<Figure[]> {
  const node = node24();
  if (node === null) throw new Error('Node.js 24 is missing');
  const bench = await ActionBench.start(node);
  try {
    const jobs: Readonly<Record<string, () => Promise<Job>>> = {
      'the action': () => Promise.resolve(actionJob(bench)),
      'drawbridge run': async () => runJob(await bench.apiKey()),
    };
    const cases = Object.entries(jobs).flatMap(([name, job]) =>
      Object.entries(LACKS).flatMap(([lack, begin]) =>
        AWAY_SECONDS.map((seconds) => ({
          name: `${name}, API that ${lack} for ${seconds} s`,
          seconds,
          ending: endOf(bench, { job, begin, seconds }),
        })),
      ),
    );
    const endings = await Promise.all(cases.map(({ ending }) => ending));
    const told = endings.filter((_, index) => cases[index]!.seconds >= TOLD_FROM_SECONDS);
    const untold = told.filter(({ isLatestTold }) => !isLatestTold).length;
    return [
      ...cases.map(({ name }, index) =>
        figure(`${name}: closed after its return`, 's', [endings[index]!.seconds], { atMost: MAX_SECONDS }),
      ),
      figure(`of ${told.length} endings without an answer, did not name the latest end`, '', [untold], {
        atMost: 0,
      }),
    ];
  } finally {
    await bench.stop();
  }
}

async function endOf(
  { drawbridge }: ActionBench,
  { job, begin, seconds }: { job: () => Promise<Job>; begin: Lack; seconds: number },
): Promise<Ending> {
  const address = freshAddress();
  const proxy = await AddressProxy.start(drawbridge.apiServer.port, address);
  try {
    const given = await job();
    await given.begin(proxy.url);
    const comeBack = await begin(proxy);
    const said = given.end();
    await pause(seconds * 1000);
    const returned = Date.now();
    await comeBack();
    const closed = await until(
      `what the job at ${address} had is closed`,
      async () => {
        const timeline = await drawbridge.cloud.timeline();
        return timeline.find((entry) => entry.address === address && entry.event === 'closed');
      },
      400_000,
    );
    return { seconds: (closed.at / 1000 - returned) / 1000, isLatestTold: LATEST.test(await said) };
  } finally {
    await proxy.stop();
  }
}

function actionJob(bench: ActionBench): Job {
  let job: ReturnType<ActionBench['job']>;
  return {
    begin: async (url) => {
      job = bench.job({ url });
      const { code, output } = await job.main();
      if (code !== 0) throw new Error(`The main step ended with ${code}: ${output}`);
    },
    end: async () => {
      const { output } = await job.post();
      job.killAll();
      return output;
    },
  };
}

function runJob(apiKey: string): Job {
  const tracking = `github_${randomUUID()}`;
  const cli = new CommandLine({ DRAWBRIDGE_API_KEY: apiKey, RUNNER_TRACKING_ID: tracking });
  const work = [process.execPath, '-e', `console.log('usable'); process.stdin.resume()`];
  let run: ReturnType<CommandLine['start']>;
  return {
    begin: async (url) => {
      run = cli.start(['run', '--', ...work], { DRAWBRIDGE_URL: url });
      await run.prints('usable');
    },
    end: async () => {
      run.child.stdin!.end();
      const { stderr } = await run.ended;
      for (const pid of processesOf(tracking)) process.kill(pid, 'SIGKILL');
      await cli.remove();
      return stderr;
    },
  };
}
