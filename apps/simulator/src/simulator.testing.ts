import type { OpenRule } from './ground-truth/ledger';
import { startSimulator, type RunningSimulator, type SimulatorOptions } from './start-simulator';

interface ControlAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** A simulator for the tests of a block, which is reset before each of them. */
interface TestedSimulator {
  readonly url: string;
  /** A request to its control interface. @param body a text is sent as it is */
  readonly control: (method: string, path: string, body?: unknown) => Promise<ControlAnswer>;
  /** The rules that are open, without Drawbridge. @param query filters them */
  readonly openRules: (query: string) => Promise<OpenRule[]>;
}

export function simulatorDuringTests(options: SimulatorOptions = {}): TestedSimulator {
  let simulator: RunningSimulator;
  const control = async (method: string, path: string, body?: unknown): Promise<ControlAnswer> => {
    const response = await fetch(`${simulator.url}${path}`, {
      method,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as unknown };
  };

  beforeAll(async () => {
    simulator = await startSimulator(options);
  });
  beforeEach(() => control('POST', '/_reset'));
  afterAll(() => simulator.close());

  return {
    get url() {
      return simulator.url;
    },
    control,
    openRules: async (query) => (await control('GET', `/_rules?${query}`)).body as OpenRule[],
  };
}
