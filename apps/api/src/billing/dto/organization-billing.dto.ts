import { ApiProperty } from '@nestjs/swagger';
import { IsEmail, IsNotEmpty } from 'class-validator';
import { AtMost, Optional, string } from '../../http/fields';
import { TEXT_OR_NULL } from '../../http/nullable';
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

export class BillingDetailsDto {
  @ApiProperty(TEXT_OR_NULL) companyName!: string | null;
  @ApiProperty(TEXT_OR_NULL) billingContactName!: string | null;
  @ApiProperty(TEXT_OR_NULL) billingEmail!: string | null;
  @ApiProperty(TEXT_OR_NULL) billingAddressLine1!: string | null;
  @ApiProperty(TEXT_OR_NULL) billingAddressLine2!: string | null;
  @ApiProperty(TEXT_OR_NULL) billingCity!: string | null;
  @ApiProperty(TEXT_OR_NULL) billingPostalCode!: string | null;
  @ApiProperty(TEXT_OR_NULL) billingState!: string | null;
  @ApiProperty(TEXT_OR_NULL) billingCountry!: string | null;
  @ApiProperty(TEXT_OR_NULL) vatNumber!: string | null;
}
