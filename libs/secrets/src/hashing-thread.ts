import { Worker } from 'node:worker_threads';

/** bcrypt's functions that block. */
interface Tasks {
  hashSync(data: string, rounds: number): string;
  compareSync(data: string, hash: string): boolean;
}
type Task = keyof Tasks;

interface Answer {
  readonly result?: string | boolean;
  readonly error?: string;
}

/** In plain JavaScript, so that it needs no file beside this one, whatever has compiled it. */
const PROGRAM = `
  const { parentPort, workerData } = require('node:worker_threads');
  const os = require('node:os');
  const bcrypt = require(workerData.bcrypt);
  // on Linux a thread has a priority of its own; elsewhere this would be the one of the whole process
  if (process.platform === 'linux') os.setPriority(0, os.constants.priority.PRIORITY_LOW);
  parentPort.on('message', ({ task, given }) => {
    try {
      parentPort.postMessage({ result: bcrypt[task](...given) });
    } catch (error) {
      parentPort.postMessage({ error: error.message });
    }
  });
`;

/** A thread with a low priority that runs one task at a time: passwords are hashed when requests leave time for it. */
export class HashingThread {
  private worker: Worker | null = null;

  /** Call it again only when it has answered. @throws Error when the task fails or the thread ends */
  async run<T extends Task>(task: T, ...given: Parameters<Tasks[T]>): Promise<ReturnType<Tasks[T]>> {
    const worker = (this.worker ??= this.started());
    worker.ref();
    try {
      const { result, error } = await new Promise<Answer>((answered, failed) => {
        worker
          .once('message', answered)
          .once('error', failed)
          .once('exit', () => failed(new Error('It ended')));
        worker.postMessage({ task, given });
      });
      if (error !== undefined) throw new Error(error);
      return result as ReturnType<Tasks[T]>;
    } finally {
      worker.removeAllListeners('message').removeAllListeners('error').removeAllListeners('exit');
      // an idle thread does not keep the process from ending
      worker.unref();
    }
  }

  private started(): Worker {
    return new Worker(PROGRAM, { eval: true, workerData: { bcrypt: require.resolve('bcrypt') } });
  }
}
