import { Injectable } from '@nestjs/common';
import { OIDC_PRESETS, type OidcPreset } from '#entities';
import { ApiSettings } from '../api.settings';
import { PRESETS } from './presets';

/** The issuers that organizations may trust. */
@Injectable()
export class Issuers {
  private readonly presets: ReadonlyMap<string, OidcPreset | null>;

  constructor({ OIDC_ISSUERS }: ApiSettings) {
    this.presets = new Map(
      OIDC_ISSUERS.map((item) => {
        const bound = OIDC_PRESETS.find((preset) => item.startsWith(`${preset}=`));
        const issuer = bound ? item.slice(bound.length + 1) : item;
        const owner = OIDC_PRESETS.find((preset) => PRESETS[preset].issuer === issuer);
        return [issuer, owner ?? bound ?? null] as const;
      }),
    );
  }

  get all(): string[] {
    return [...this.presets.keys()];
  }

  allows(issuer: unknown): issuer is string {
    return typeof issuer === 'string' && this.presets.has(issuer);
  }

  /** The only preset for an issuer, public or bound by the operator: CUSTOM would avoid its demands. null: any */
  presetOf(issuer: string): OidcPreset | null {
    return this.presets.get(issuer) ?? null;
  }
}
