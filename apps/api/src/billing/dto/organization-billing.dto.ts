import { ApiProperty } from '@nestjs/swagger';
import { IsEmail, IsNotEmpty } from 'class-validator';
import { AtMost, Optional, string } from '../../http/fields';
import { HasNoHiddenCharacters, trimmed } from '../../http/text-fields';

/** A line of the address: unchanged when omitted, removed by null. */
const Line = (example: string): PropertyDecorator =>
  Optional(
    string(
      HasNoHiddenCharacters(),
      IsNotEmpty({ message: 'must not be empty: null removes it' }),
      AtMost(200),
      trimmed(),
    ),
    { nullable: true, maxLength: 200, example },
  );

export class ChangeBillingDetailsDto {
  @Line('Example Ltd') companyName?: string | null;
  @Line('Ada Example') billingContactName?: string | null;

  @Optional(string(IsEmail({}, { message: 'must be an e-mail address' }), trimmed()), {
    nullable: true,
    format: 'email',
    example: 'invoices@example.com',
  })
  billingEmail?: string | null;

  @Line('1 Example Street') billingAddressLine1?: string | null;
  @Line('2nd floor') billingAddressLine2?: string | null;
  @Line('Berlin') billingCity?: string | null;
  @Line('10115') billingPostalCode?: string | null;
  @Line('BE') billingState?: string | null;
  @Line('DE') billingCountry?: string | null;
  @Line('DE123456789') vatNumber?: string | null;
}

const NULLABLE = { type: String, nullable: true } as const;

export class BillingDetailsDto {
  @ApiProperty(NULLABLE) companyName!: string | null;
  @ApiProperty(NULLABLE) billingContactName!: string | null;
  @ApiProperty(NULLABLE) billingEmail!: string | null;
  @ApiProperty(NULLABLE) billingAddressLine1!: string | null;
  @ApiProperty(NULLABLE) billingAddressLine2!: string | null;
  @ApiProperty(NULLABLE) billingCity!: string | null;
  @ApiProperty(NULLABLE) billingPostalCode!: string | null;
  @ApiProperty(NULLABLE) billingState!: string | null;
  @ApiProperty(NULLABLE) billingCountry!: string | null;
  @ApiProperty(NULLABLE) vatNumber!: string | null;
}
