import { IsOptional, IsString } from 'class-validator';
import { wholeNumber } from '#config';

/** Environment variables of the simulated clouds. */
export class SimulatorSettings {
  @wholeNumber(0, 65_535)
  SIMULATOR_PORT = 4666;

  @IsString()
  SIMULATOR_HOST = '127.0.0.1';

  /** persists open rules across restarts; unset: in memory only */
  @IsOptional()
  @IsString()
  SIMULATOR_STATE_FILE?: string;

  /** delay before every provider call is handled, milliseconds */
  @wholeNumber(0, 60_000)
  SIMULATOR_LATENCY_MS = 0;

  /** inbound rules a security group may have for IPv4, and as many again for IPv6 */
  @wholeNumber(1, 1_000_000)
  SIMULATOR_RULES_PER_GROUP = 60;

  /** number of security groups: the first ten are those of the demo, the ids count up in hexadecimal */
  @wholeNumber(1, 10_000)
  SIMULATOR_GROUPS = 10;

  /** how long Compute takes to apply an accepted write, milliseconds */
  @wholeNumber(0, 600_000)
  SIMULATOR_GCP_OPERATION_MS = 50;

  /** how long database servers of Azure take to apply an accepted change, milliseconds; 0: as long as other services */
  @wholeNumber(0, 600_000)
  SIMULATOR_AZURE_SERVER_MS = 0;

  /** token bucket of EC2 writes, per account and region: burst, and refill per second */
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
