"""What the name of a column says: words in eight languages, and the codes of common surveys."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Meaning = Literal["confidential", "key", "weights", "group", "identifier", "aside"]
"""aside: a column whose name says that intruders seldom know it, or that it is about the interview."""


@dataclass(frozen=True)
class Concept:
    """What a column is about: words in names, and codes that are a whole name."""

    meaning: Meaning
    said: str
    """The concept in a sentence."""
    words: str
    """Words without accents, in small letters. ~ before or after a word: more may stand there without a "
    "separator."""
    codes: str = ""
    """Names of columns in the files of censuses and surveys."""

    @cached_property
    def whole(self) -> frozenset[str]:
        return frozenset(word for word in self.words.split() if "~" not in word)

    @cached_property
    def parts(self) -> re.Pattern[str] | None:
        parts = [_pattern(word) for word in self.words.split() if "~" in word]
        return re.compile("|".join(parts)) if parts else None

    @cached_property
    def known_codes(self) -> frozenset[str]:
        return frozenset(self.codes.split())


def _pattern(word: str) -> str:
    before, after = word.startswith("~"), word.endswith("~")
    return f"{'' if before else '^'}{word.strip('~')}{'' if after else '$'}"


# The order matters: the first concept that fits a name is taken. English, German, French, Spanish, Italian, Dutch,
# Portuguese, Polish.

BIRTH_QUARTER = Concept(
    "aside",
    "the quarter of birth, which intruders seldom know apart from the age",
    "birthquarter quarterofbirth geburtsquartal trimestredenaissance trimestrenaissance trimestrenacimiento "
    "trimestredinascita geboortekwartaal",
    "qtrbir birthqtr rb070 pb130",
)
ABOUT_THE_FILE = Concept(
    "aside",
    "the survey itself: its round, its date or how it was done",
    "surveyyear year interviewyear yearofinterview erhebungsjahr befragungsjahr jahr annee ano anio anno jaar rok "
    "surveymonth interviewdate dateofinterview interviewer mode wave round edition version proddate flag imputed "
    "imputation allocated allocation dataset recordtype stratum strata psu cluster",
    "sdmvpsu sdmvstra rt sporder essround proddate hrmonth hryear4 hrmis hrintsta rb010 pb010 pb030year db010 "
    "hb010 adjust "
    "adjinc adjhsg cseq",
)
BODY = Concept(
    "aside",
    "the body",
    "height bodyheight groesse koerpergroesse taille talla altezza lengte altura wzrost bodyweight birthweight "
    "weightkg weightlb weightlbs koerpergewicht geburtsgewicht pesokg bmi",
)
TIME_USE = Concept(
    "aside",
    "hours or weeks of work, which intruders seldom know exactly",
    "hoursworked hoursperweek hours weeksworked weeks arbeitsstunden wochenstunden arbeitszeit heures horas "
    "ore uren "
    "godziny",
    "wkhp wkw wkl wkhtot pehruslt pehractt uhrswork wrkhrs pl060 pl073 jwmnp jwap jwdp trantime",
)
MONEY = Concept(
    "confidential",
    "money, which people keep to themselves",
    "~income~ rincom faminc famincome ~salar~ wage wages wagerate earnings~ earning pay payment payments "
    "paygrade gross grosspay netpay "
    "bonus pension pensions annuity dividend dividends capitalgain capitalgains capitalloss capitallosses wealth "
    "assets debt debts loan loans mortgage balance savings ~turnover~ revenue profit tax taxes expenditure "
    "expenditures expenses charges totalcharges cost costs rent benefit benefits compensation "
    "~einkommen~ ~einkuenfte~ ~gehalt~ lohn ~lohn bruttolohn~ nettolohn~ verdienst ~verdienst "
    "bruttoverdienst~ rente renten~ kredite "
    "~vermoegen~ schulden ~kredit~ ~umsatz~ gewinn steuer steuern ausgaben miete "
    "revenu revenus ~revenu salaire~ traitement dette dettes patrimoine loyer impot impots depenses epargne "
    "ingreso ingresos sueldo sueldos salario salarios renta rentas deuda deudas patrimonio alquiler impuestos "
    "gastos "
    "reddito redditi stipendio stipendi salario retribuzione debito debiti affitto imposte spese "
    "inkomen~ ~inkomen salaris~ loon brutoloon nettoloon uurloon schuld schulden vermogen huur belasting uitgaven "
    "omzet "
    "rendimento rendimentos renda ordenado vencimento divida dividas aluguel despesas "
    "dochod~ ~dochod~ wynagrodzenie~ placa pensja zarobki dlug dlugi majatek czynsz podatek wydatki",
    "ftotinc valueh indhhin2 indfmin2 indfmpir grsswk netwk hourpay wagp pincp pernp intp oip pap retp semp "
    "ssip ssp hincp fincp incwage inctot incearn incss incwelfr incinvst "
    "hinctnta hinctnt prernwa pternwa pternhly prernhly hefaminc hufaminc peernlab peernhry wsalval ptotval "
    "pearnval "
    "htotval hy010 hy020 hy022 hy023 hy025 hy040g hy050g hy060g hy070g hy080g hy090g hy110g hy120g hy130g hy140g "
    "py010g py010n py020g py021g py050g py050n py080g py090g py100g py110g py120g py130g py140g hx090 ptincome",
)
HEALTH = Concept(
    "confidential",
    "health, which people keep to themselves",
    "~diagnos~ ~disease~ diabet~ asthma~ cancer~ stroke hiv~ depress~ ~hepatitis hypertension genhlth hlth "
    "illness illnesses hiv aids icd icd9 icd10 icdcode drg msdrg apdrg aprdrg procedure "
    "procedures primaryprocedure medication medications drug drugs treatment therapy symptom symptoms comorbidity "
    "comorbidities labresult testresult bloodpressure cholesterol pregnant pregnancy depression mentalhealth "
    "selfratedhealth generalhealth health death causeofdeath mortality severity severityofillness "
    "krankheit~ ~krankheit erkrankung~ ~erkrankung befund~ therapie behandlung medikament~ gesundheit~ "
    "maladie maladies sante traitementmedical etatdesante "
    "enfermedad enfermedades salud medicamento medicamentos tratamiento "
    "malattia malattie salute farmaco farmaci terapia "
    "ziekte~ gezondheid~ aandoening~ behandeling medicijn~ "
    "doenca doencas saude tratamento "
    "choroba choroby rozpoznanie zdrowie leczenie lek leki diagnoza",
    "ridexprg lnglst heal chccopd2 ph010 ph020 ph030 ph040 ph060 dx1 dx2 dx3 dx4 dx5 pr1 pr2 i10dx1 i10dx2 "
    "i10pr1 hlthhmp totchg",
)
CONVICTION = Concept(
    "confidential",
    "a conviction, which people keep to themselves",
    "religion religions religious relig relattend partyid polviews politicalviews ideology pres ~denomination "
    "vote voted ~votefor party politicalparty partyvote ~orientation "
    "unionmember unionmembership tradeunion conviction convictions offence offences offense offenses crime arrest "
    "prison konfession ~konfession glaube partei wahlabsicht gewerkschaft vorstrafe vorstrafen parti confession "
    "syndicat partido religione partito sindacato godsdienst geloof partij vakbond religiao sindicato religia "
    "wyznanie partia wyrok",
    "rlgblg rlgdnm rlgdgr lrscale prtvtddk prtclede",
)
HOUSEHOLD_SIZE = Concept(
    "key",
    "the size or kind of the household",
    "householdsize hhsize familysize sizeofhousehold numberofpersons personsinhousehold numpersons "
    "householdmembers householdtype typeofhousehold familytype hhtype children numberofchildren numchildren "
    "nchild childs hompop numadult adults "
    "nchildren haushaltsgroesse~ haushaltstyp personenimhaushalt kinderzahl anzahlkinder kinder taillemenage "
    "tailledumenage nombreenfants nombredenfants enfants typemenage typedemenage tamanohogar tamanodelhogar "
    "tamanohogar numerodehijos hijos tipodehogar componentifamiglia numerocomponenti figli tipologiafamiliare "
    "huishoudgrootte ~aantalkinderen kinderen huishoudtype tamanhodafamilia tamanhodomicilio filhos "
    "liczbaosob liczbadzieci dzieci",
    "dmdhhsiz dmdfmsiz hx040 hx060 hhmmb hrnumhou nper np noc famsize hhtyp",
)
GROUP = Concept(
    "group",
    "the household that a person belongs to",
    "household householdid householdno householdnr householdnumber householdserial hhid hhno hhnr hh familyid "
    "familyno familynumber serialno haushalt haushaltid haushaltsid haushaltnr haushaltsnr haushaltsnummer "
    "hhnummer "
    "familiennummer menage menageid idmenage numeromenage hogar hogarid idhogar numerohogar famiglia famigliaid "
    "idfamiglia nucleofamiliare huishouden huishoudenid huishoudnummer domicilio iddomicilio agregado "
    "agregadofamiliar gospodarstwo idgospodarstwa nrgospodarstwa gospodarstwodomowe",
    "hserialp serialno serial hrhhid hhidnum hseq db030 hb030 px030 rx030 idhh",
)
DISABILITY = Concept(
    "key",
    "a disability, which is often known or can be seen",
    "~disabilit~ disabled deaf blind deafness blindness handicap~ behinderung~ ~behinderung schwerbehindert "
    "discapacidad~ disabilita disabile "
    "gehandicapt beperking deficiencia niepelnosprawnosc~ handicape incapacite invalidite",
    "ds dis disab diffany prdisflg",
)
RACE = Concept(
    "key",
    "ethnic origin, which is known or can be seen",
    "race races ethnicity ethnic ethnicgroup ethnicorigin hispanic hispanicorigin latino skincolour skincolor "
    "ethnie ethnische~ herkunft raza etnia raca cor etniczn~ rasa afkomst etniciteit origineethnique",
    "ridreth1 ridreth3 ethukeul rac1p race1 hisp hispan hisporigin ptdtrace prdtrace perace pehspnon prdthsp "
    "blgetmg",
)
ORIGIN = Concept(
    "key",
    "citizenship or country of birth, which is often known",
    "~citizen~ nationality nationalities countryofbirth birthcountry birthplace placeofbirth birthstate "
    "nativecountry bornincountry bornabroad born foreignborn immigrant immigration migrant migrationbackground "
    "staatsangehoerigkeit~ nationalitaet geburtsland geburtsort migrationshintergrund nationalite paysdenaissance "
    "paysnaissance lieudenaissance lieunaissance immigre nacionalidad paisdenacimiento paisnacimiento "
    "lugarnacimiento lugardenacimiento cittadinanza nazionalita paesedinascita luogodinascita luogonascita "
    "nationaliteit geboorteland geboorteplaats nacionalidade naturalidade paisdenascimento obywatelstwo~ "
    "narodowosc krajurodzenia miejsceurodzenia",
    "dmdborn4 dmdcitzn cry12 natox7 cit pobp nativity citizen bpl ctzcntr brncntr prcitshp penatvty pb210 "
    "pb220a pb220 rb280 rb290",
)
AGE = Concept(
    "key",
    "the age, which acquaintances know",
    "age agegyr age5 age5yr age10 ageinyears ageyears ageatadmission agegroup ageband agecat agerange agegrp "
    "patientage birth birthday "
    "birthdate dateofbirth dob yearofbirth birthyear yob monthofbirth birthmonth "
    "alter altersgruppe altersklasse alterjahre lebensalter geburtsdatum geburtstag geburtsjahr geburtsmonat "
    "agerevolu trancheage tranchedage datedenaissance datenaissance anneedenaissance anneenaissance naissance "
    "edad edadanos grupoedad grupodeedad fechadenacimiento fechanacimiento anonacimiento anodenacimiento "
    "nacimiento "
    "eta etaanni classedieta classeeta fasciadieta datadinascita datanascita annodinascita annonascita "
    "leeftijd~ geboortedatum geboortejaar "
    "idade faixaetaria grupoetario datadenascimento datanascimento anodenascimento anonascimento nascimento "
    "wiek grupawieku dataurodzenia rokurodzenia",
    "ridageyr ageg5yr agep agea agedcat yrbrn prtage peage rb080 pb140 rx010 rx020 px020 aage",
)
SEX = Concept(
    "key",
    "the sex, which acquaintances know",
    "sex sexcode sexvar gender geschlecht sexe genre sexo genero sesso genere geslacht plec",
    "riagendr gndr pesex rb090 pb150 asex female male",
)
MARITAL = Concept(
    "key",
    "marital status, which acquaintances know",
    "~marital~ married marriage civilstatus familienstand~ familienstatus zivilstand verheiratet etatcivil "
    "situationmatrimoniale matrimonial etatmatrimonial estadocivil statocivile burgerlijkestaat burgerlijkstaat "
    "huwelijk~ estadocivil stancywilny",
    "dmdmartl marsta mar marst marsts maritalb pemaritl prmarsta pb190 pb200",
)
EDUCATION = Concept(
    "key",
    "education, which acquaintances know",
    "~education~ educ educa edu edlevel educationlevel schooling degree highestdegree qualification qualifications "
    "bildung~ ~bildung schulabschluss bildungsabschluss ~abschluss schulbildung diplome~ niveaudetudes "
    "niveauetudes "
    "niveaudiplome formation etudes educacion niveleducativo niveldeestudios estudios nivelestudios istruzione "
    "titolodistudio titolostudio livellodiistruzione opleiding~ ~opleiding opleidingsniveau escolaridade educacao "
    "niveldeescolaridade instrucao wyksztalcenie~",
    "dmdeduc2 dmdeduc3 hiqul15d hiqual schl eisced edulvlb edulvla eduyrs peeduca pe040 pe041 pe021 educd ahga",
)
OCCUPATION = Concept(
    "key",
    "the occupation, which acquaintances know",
    "~occupation~ occup occ occcode job jobtitle profession professions beruf berufsgruppe isco isco08 isco88 "
    "soc metier "
    "profession categorieprofessionnelle csp pcs ocupacion oficio profesion occupazione professione mestiere "
    "beroep~ "
    "ocupacao profissao zawod",
    "sc10mmj sc20mmj occp occp02 occp10 peio1ocd prmjocc1 prdtocc1 pl051 pl050 isco08p occ2010 occ1990",
)
INDUSTRY = Concept(
    "key",
    "the industry or employer, which acquaintances know",
    "industry industrycode indus majorindustry industrygroup sector economicsector employer nace nacer2 naics "
    "sic isic "
    "department workplace company branche wirtschaftszweig arbeitgeber industrie secteur secteuractivite "
    "secteurdactivite naf employeur entreprise sectoractividad ramadeactividad industria empresa settore "
    "settoreattivita azienda bedrijfstak werkgever setor ramodeatividade branza sekcjapkd pkd pracodawca",
    "ind inds07m indp indp02 peio1icd prmjind1 prdtind1 pl111 pl110 ind1990",
)
WORK = Concept(
    "key",
    "employment, which acquaintances know",
    "workclass classofworker wrkstat wrkslf employ empl empstatus employment employmentstatus employmenttype "
    "employmentsituation employed unemployed "
    "labourstatus laborstatus labourforcestatus laborforcestatus activitystatus workstatus jobstatus selfemployed "
    "erwerbsstatus erwerbstaetigkeit beschaeftigung~ berufsstatus stellungimberuf erwerbstaetig statutemploi "
    "statutdactivite statutactivite emploi situacionlaboral situacionprofesional empleo condicionlaboral "
    "condizioneoccupazionale condizioneprofessionale posizioneprofessionale werkstatus arbeidsstatus "
    "dienstverband situacaoprofissional situacaonoemprego emprego statuszatrudnienia zatrudnienie",
    "cow esr mnactic emplrel pdwrk pemlr peio1cow prempnot pl031 pl030 pl040 pl040a rb210 empstat labforce "
    "classwkr",
)
ADMISSION = Concept(
    "key",
    "the stay, which acquaintances may know",
    "admissiondate admitdate dateofadmission admission admissionyear admissionmonth dischargedate dateofdischarge "
    "dischargeyear dischargemonth lengthofstay los aufnahmedatum entlassungsdatum verweildauer dateadmission "
    "datedadmission dateentree datesortie dureesejour fechaingreso fechadeingreso fechaalta fechadealta "
    "dataricovero datadimissione opnamedatum ontslagdatum dataadmissao dataalta datainternacao dataprzyjecia "
    "datawypisu",
    "amonth dqtr ayear",
)
SERVICE = Concept("key", "military service", "veteran veteranstatus militaryservice", "mil vetstat peafever")
LANGUAGE = Concept(
    "key",
    "the language, which acquaintances know",
    "language homelanguage mothertongue languagespoken sprache muttersprache langue languematernelle idioma lengua "
    "lenguamaterna lingua linguamadre taal moedertaal jezyk",
    "lanp lnghom1 lang",
)
RELATIONSHIP = Concept(
    "key",
    "the position in the household, which acquaintances know",
    "relationship relationshiptohead relationtohead reltohead householdposition stellungimhaushalt lienparente "
    "liendeparente parentesco parentela relazionediparentela pokrewienstwo",
    "rel relp relate perrp",
)
PLACE = Concept(
    "key",
    "where somebody lives, which acquaintances know",
    "region regioncode state statecode province county countycode city town village municipality municipalitycode "
    "district zip zipcode zip3 zip5 postcode postalcode postal country countrycode residence urban rural "
    "urbanrural "
    "area areacode metro metropolitan censustract tract neighbourhood neighborhood nuts nuts1 nuts2 nuts3 puma "
    "hospital hospitalid facility facilityid ward "
    "bundesland land kreis gemeinde~ ort wohnort plz postleitzahl stadt bezirk kanton gemeindekennziffer "
    "krankenhaus "
    "departement commune codepostal ville pays codeinsee codecommune coderegion canton hopital "
    "comunidad comunidadautonoma ccaa provincia municipio codigopostal ciudad pais localidad "
    "regione comune cap citta paese codicepostale ospedale regio provincie gemeente woonplaats plaats "
    "regiao estado concelho freguesia cidade codigopostal uf wojewodztwo~ powiat gmina miasto miejscowosc "
    "kodpocztowy kraj",
    "countyfip gor9d gor govtof2 st cntry regunit gestfips gtcbsa gereg gtmetsta db040 db100 rb020 db020 "
    "pb020 hb020 statefip domicil division "
    "hospst pstco",
)
WEIGHTS = Concept(
    "weights",
    "survey weights",
    "w weight weights wgt ~wgt~ wgts wt~ ~wt wt wts pweight perwt personweight surveyweight samplingweight "
    "sampleweight "
    "designweight finalweight finalwgt finalwt fnlwgt fnlwt hhweight householdweight expansionfactor gewicht~ "
    "hochrechnungsfaktor ~gewichtung ~gewicht ponderation poids poidsfinal ponderacion factordeexpansion "
    "factorexpansion factorelevacion factordeelevacion peso pesi pesofinale coefficientediriporto weging~ "
    "weegfactor ponderacao ponderador fatordeexpansao waga wagi",
    "pwt20 pwt22 piwt20 piwt22 pwgtp wgtp dweight pspwght pspweight anweight anwght pwsswgt pworwgt pwcmpwgt "
    "pwlgwgt pwfmwgt hwhhwgt marsupwt "
    "rb050 rb060 rb062 rb063 rb064 pb040 pb050 pb060 db080 db090 discwt trendwt hhwt asecwt",
)
RECORD_NUMBER = Concept(
    "identifier",
    "a number of one person or record",
    "id uid uuid guid pid personid personnumber personno personnr persnr recordid recordno recordnumber rowid "
    "rownumber numberofrow patientid patientno patientnumber patid mrn medicalrecordnumber caseid caseno "
    "casenumber clientid customerid customerno userid memberid employeeid employeeno staffid studentid "
    "respondentid "
    "respid participantid subjectid subjid encounterid visitid admissionid claimid accountnumber accountno account "
    "physicianid doctorid npi attendingnpi policynumber insurancenumber ~passport~ ~iban~ ssn socialsecurity "
    "socialsecuritynumber nationalid taxid nino nhsnumber "
    "licenseplate personalnummer personennummer patientennummer patientnr fallnummer fallnr kundennummer "
    "versichertennummer sozialversicherungsnummer steuerid steuernummer ausweisnummer laufendenummer lfdnr "
    "identifiant numeropatient numerosecu numerosecuritesociale nir numerodossier dni nie nif curp rut cedula "
    "expediente codicefiscale cf numeropaziente bsn burgerservicenummer klantnummer patientnummer cpf nis "
    "numerodeutente "
    "pesel nrpesel numerpesel numerpacjenta",
    "idno pb030 rb030 pulineno occurnum keynis visitlink",
)
CONTACT = Concept(
    "identifier",
    "an address",
    "~email~ mail phone phonenumber telephone tel mobile cellphone fax address street streetaddress "
    "homeaddress url website ipaddress ip username login twitter adresse strasse anschrift telefon telefonnummer "
    "handy handynummer rue telephonenumber courriel telefono movil correo correoelectronico direccion calle "
    "cellulare "
    "indirizzo via adres straat telefoon telefoonnummer telefone telemovel endereco morada rua ulica telefon~ "
    "latitude longitude gps coordinates",
)
PERSON_NAME = Concept(
    "identifier",
    "a name",
    "name names fullname firstname givenname forename lastname surname familyname maidenname middlename personname "
    "patientname customername clientname employeename username vorname nachname familienname vorundnachname "
    "nom prenom nomdefamille nometprenom nomprenom nombre apellido apellidos nombreyapellidos nombrecompleto "
    "primerapellido cognome nome nomeecognome naam voornaam achternaam voorletters sobrenome apelido nomecompleto "
    "imie nazwisko imieinazwisko imienazwisko",
)

CONCEPTS = (
    BIRTH_QUARTER, BODY, CONTACT, WEIGHTS, HOUSEHOLD_SIZE, MONEY, HEALTH, CONVICTION, TIME_USE, DISABILITY, ORIGIN, AGE,
    SEX, MARITAL, EDUCATION, RACE, OCCUPATION, INDUSTRY, WORK, ADMISSION, SERVICE, LANGUAGE, RELATIONSHIP, GROUP,
    RECORD_NUMBER, PLACE, PERSON_NAME, ABOUT_THE_FILE,
)  # fmt: skip
LIKELIEST_KEYS = (
    AGE, SEX, PLACE, EDUCATION, MARITAL, RACE, DISABILITY, OCCUPATION, ORIGIN, INDUSTRY, WORK, HOUSEHOLD_SIZE,
    ADMISSION, LANGUAGE, SERVICE, RELATIONSHIP,
)  # fmt: skip
"""The concepts of keys, the likeliest to be known first."""

_ALONE_ONLY_WORDS = (
    "account anio annee anno ano area cap cf cor country death degree famiglia haushalt health hh hogar "
    "hours household huishouden id ip jaar jahr job land lek los mail menage mode naam name names nom "
    "nombre nome ore party pays pcs rel rent rok round soc st tax tel version via w weeks year"
)
"""Words that say what a column is only where nothing but plain words stands beside them."""
_PLAIN_WORDS = (
    "a annual at cat category client code current customer das date de der des detailed die du employee "
    "full group hh home household in key la last le level main major monthly my name no nr num number of "
    "other p patient per per_week person primary recode respondent status the total us week worked"
)

_ALONE_ONLY, _PLAIN = frozenset(_ALONE_ONLY_WORDS.split()), frozenset(_PLAIN_WORDS.split())


def concept_of(name: str) -> Concept | None:
    """What the name says; None if it says nothing.

    >>> [found and found.meaning for found in map(concept_of, ("AGEP", "Geburtsjahr", "q17", "hh_income"))]
    ['key', 'key', None, 'confidential']
    """
    words = words_of(name)
    squashed = "".join(words)
    for each in CONCEPTS:
        if squashed in each.known_codes:
            return each
    for own in (
        words,
        tuple(re.sub(r"(?<=[a-z]{3})\d+$", "", word) for word in words),
    ):  # educ2, occ10, vote16
        joined = _joined(own)
        for each in CONCEPTS:
            if _fits(each, own, joined):
                return each
    return None


LEAST_LETTERS = 4
"""Shorter words must fit as a whole."""


def _fits(concept: Concept, words: tuple[str, ...], joined: Mapping[str, tuple[int, int]]) -> bool:
    for text, (begin, end) in joined.items():
        if text in concept.whole:
            others = (*words[:begin], *words[end:])
            if text not in _ALONE_ONLY or all(other in _PLAIN or other.isdigit() for other in others):
                return True
        if concept.parts is not None and len(text) >= LEAST_LETTERS and concept.parts.search(text):
            return True
    return False


def _joined(words: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    """Neighbouring words as one, the longest first: date, of, birth: dateofbirth, dateof, ofbirth, date, …"""
    return {
        "".join(words[begin : begin + many]): (begin, begin + many)
        for many in range(min(5, len(words)), 0, -1)
        for begin in range(len(words) - many + 1)
    }


_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ł": "l", "ø": "o", "æ": "ae"})


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, without accents and in small letters.

    >>> words_of("Haushalts-Größe"), words_of("maritalStatus"), words_of("RAC1P"), words_of("educ_2")
    (('haushalts', 'groesse'), ('marital', 'status'), ('rac1p',), ('educ', '2'))
    """
    spaced = re.sub(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])", " ", name[:200])
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFC", spaced.lower()).translate(_UMLAUTS))
    return tuple(re.findall(r"[a-z0-9]+", "".join(c for c in plain if not unicodedata.combining(c))))
