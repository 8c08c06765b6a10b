import { IsOptional, IsString, ValidateBy } from 'class-validator';
import { toInteger } from '#config';

/** Property decorator: a whole number in a range. */
const wholeNumber =
  (lowest: number, highest: number): PropertyDecorator =>
  (target, name) => {
    toInteger()(target, name);
    ValidateBy({
      name: 'wholeNumber',
      validator: {
        validate: (value: unknown) =>
          Number.isInteger(value) && Number(value) >= lowest && Number(value) <= highest,
        defaultMessage: () => `${String(name)} must be a whole number from ${lowest} to ${highest}`,
      },
    })(target, name);
  };

/** What the environment may say about the simulated clouds. */
export class SimulatorSettings {
  @wholeNumber(0, 65_535)
  SIMULATOR_PORT = 4666;

  @IsString()
  SIMULATOR_HOST = '127.0.0.1';

  /** keeps what is open over a restart; unset: in memory only */
  @IsOptional()
  @IsString()
  SIMULATOR_STATE_FILE?: string;

  /** how long every provider call waits before it is looked at, milliseconds */
  @wholeNumber(0, 60_000)
  SIMULATOR_LATENCY_MS = 0;

  /** inbound rules a security group may have for IPv4, and as many again for IPv6 */
  @wholeNumber(1, 1_000_000)
  SIMULATOR_RULES_PER_GROUP = 60;

  /** security groups there are: the first ten are those of the demo, the others count on in hexadecimal */
  @wholeNumber(1, 10_000)
  SIMULATOR_GROUPS = 10;

  /** entries a managed prefix list of AWS may have */
  @wholeNumber(1, 1_000_000)
  SIMULATOR_ENTRIES_PER_LIST = 60;

  /** how long AWS takes to carry out a change of a prefix list that it has accepted, milliseconds */
  @wholeNumber(0, 600_000)
  SIMULATOR_LIST_CHANGE_MS = 50;

  /** firewall rules the simulated Google project may have */
  @wholeNumber(1, 1_000_000)
  SIMULATOR_FIREWALLS_PER_PROJECT = 100;

  /** how long Compute takes to carry out a write that it has accepted, milliseconds */
  @wholeNumber(0, 600_000)
  SIMULATOR_GCP_OPERATION_MS = 50;

  /** rules a simulated network security group of Azure may have */
  @wholeNumber(1, 1_000_000)
  SIMULATOR_AZURE_RULES_PER_GROUP = 1000;

  /** how long Azure takes to carry out a change that it has accepted, milliseconds */
  @wholeNumber(0, 600_000)
  SIMULATOR_AZURE_OPERATION_MS = 50;

  /** EC2 writes an account may make at once in a region, and how many more each second */
  @wholeNumber(1, 1_000_000)
  SIMULATOR_WRITE_BURST = 50;

  @wholeNumber(1, 1_000_000)
  SIMULATOR_WRITE_REFILL_PER_SECOND = 5;

  /** the same for reads */
  @wholeNumber(1, 1_000_000)
  SIMULATOR_READ_BURST = 100;

  @wholeNumber(1, 1_000_000)
  SIMULATOR_READ_REFILL_PER_SECOND = 20;
}
