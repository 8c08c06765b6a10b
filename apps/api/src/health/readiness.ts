import { Injectable } from '@nestjs/common';
import { DeploymentHealth, type HealthReport, problemOf } from '#connections';
import type { Readiness as ProcessReadiness } from '#metrics';

/** Checks the service's dependencies. */
@Injectable()
export class Readiness {
  private draining = false;

  constructor(private readonly health: DeploymentHealth) {}

  /** Reports DOWN from now on, because the process is about to stop. */
  startDraining(): void {
    this.draining = true;
  }

  async report(): Promise<HealthReport> {
    const report = await this.health.report();
    return this.draining ? { ...report, status: 'DOWN' } : report;
  }

  /** The report for operators. */
  async summary(): Promise<ProcessReadiness> {
    const report = await this.report();
    return { status: report.status, problem: this.draining ? 'the process stops' : problemOf(report) };
  }
}
