/** Generated from agent/words by `python -m tests.words.popup`: change it there. */

export const WHY_NOTHING = {
  "answered": "no fact helps enough to be worth sharing",
  "unknown query": "not recognised; sent unchanged",
  "blocked": "one of your rules blocks it",
  "recognised": "only one person fits what it knows, and more would confirm that it is you",
  "outside the model": "nobody in the model fits what it knows, so you may stand out",
  "past a limit already": "it already knows more than your limits allow",
  "you would stand out": "with anything new, too few people would look like you there",
  "locked": "vault locked",
  "no policy": "no policy in use",
  "no model": "no usable model",
  "unfit": "the model does not fit your policy, or what the recipient holds",
  "failed": "internal error",
  "not https": "not an https address, so the network could read it",
  "too many": "too many requests in one minute",
  "too many from pages": "pages asked too often in one minute",
  "parameters only": "it gets your language and country in its address, and nothing else"
};

export const ASSISTANTS = {
  "https://chatgpt.com/": {
    "name": "ChatGPT",
    "recipient": "chatgpt.com"
  },
  "https://claude.ai/": {
    "name": "Claude",
    "recipient": "claude.ai"
  },
  "https://copilot.microsoft.com/": {
    "name": "Copilot",
    "recipient": "copilot.microsoft.com"
  },
  "https://chat.deepseek.com/": {
    "name": "DeepSeek",
    "recipient": "deepseek.com"
  },
  "https://gemini.google.com/": {
    "name": "Gemini",
    "recipient": "gemini.google.com"
  },
  "https://grok.com/": {
    "name": "Grok",
    "recipient": "grok.com"
  },
  "https://www.kimi.com/": {
    "name": "Kimi",
    "recipient": "kimi.com"
  },
  "https://chat.mistral.ai/": {
    "name": "Le Chat",
    "recipient": "mistral.ai"
  },
  "https://www.meta.ai/": {
    "name": "Meta AI",
    "recipient": "meta.ai"
  },
  "https://www.perplexity.ai/": {
    "name": "Perplexity",
    "recipient": "perplexity.ai"
  },
  "https://poe.com/": {
    "name": "Poe",
    "recipient": "poe.com"
  }
};

export const REASONS = {
  "worth it": "helps more than it costs",
  "always": "always sent",
  "waits for you": "waits for your approval",
  "in the standing set": "part of the set sent with every request",
  "not in the standing set": "not part of the set sent with every request",
  "in the plan": "worth it over all requests to this site",
  "planned for other requests": "planned for other requests",
  "not in the plan": "rarely useful for this site",
  "known to the recipient": "already known to it",
  "costs more than it helps": "does not help enough",
  "hardly helps": "hardly helps with this",
  "would break a limit": "would break a limit",
  "not asked for": "not asked for",
  "not carried": "cannot be sent in the address",
  "told anyway": "already visible from your browser and IP address",
  "not set": "not set, so never sent",
  "never": "never sent",
  "guarded": "kept secret, so never sent",
  "recognised": "would confirm who you are",
  "outside the model": "nobody in the model looks like you",
  "you would stand out": "would make you stand out",
  "too many combinations": "too many combinations to evaluate",
  "no room in the header": "no room in the header"
};

export const TITLES = {
  "state": "state of the US",
  "sex": "sex",
  "age": "age",
  "education": "highest level of education",
  "hispanic": "Hispanic or Latino",
  "born_in_us": "born in the US",
  "citizen": "US citizen",
  "marital": "marital status",
  "partner": "partner in the household",
  "home": "home, owned or rented",
  "income": "income of the household in a year",
  "work": "work",
  "hours": "working full-time or part-time",
  "industry": "industry",
  "employer": "employer",
  "children": "children under 18 in the household",
  "youngest_child": "age of the youngest child in the household",
  "household": "people in the household",
  "gender": "gender",
  "parents_education": "highest level of the parents' education",
  "major": "main field of study",
  "employment": "employment status",
  "hobby": "programs as a hobby or for open source",
  "remote": "share of work done from home",
  "company_size": "number of people at the company",
  "company_type": "kind of company",
  "years_program": "years since learning to program",
  "years_job": "years of programming in a job",
  "salary": "salary, in fifths from low to high",
  "career_sat": "satisfaction with the career",
  "job_sat": "satisfaction with the job",
  "job_seeking": "looking for a new job",
  "overpaid": "feels paid too little or too much",
  "work_start": "hour at which work would best begin",
  "dev_web": "works as web developer",
  "dev_mobile": "works as mobile developer",
  "dev_desktop": "works as desktop developer",
  "dev_dba": "works as database administrator",
  "dev_devops": "works in devops",
  "dev_sysadmin": "works as systems administrator",
  "dev_embedded": "works on embedded devices",
  "dev_data": "works as data scientist or in statistics",
  "dev_graphics": "works on graphics",
  "dev_design_qa": "works as designer or in quality assurance",
  "int_javascript": "interested in JavaScript",
  "int_sql": "interested in SQL",
  "int_java": "interested in Java",
  "int_dotnet": "interested in .NET",
  "int_python": "interested in Python",
  "int_php": "interested in PHP",
  "int_c_cpp": "interested in C and C++",
  "int_ruby": "interested in Ruby",
  "int_apple": "interested in Swift and Objective-C",
  "int_stats": "interested in statistical languages",
  "int_systems": "interested in newer systems languages"
};

export const VALUES = {
  "unspecified": "not said",
  "15_17": "15 to 17",
  "18_24": "18 to 24",
  "25_34": "25 to 34",
  "35_44": "35 to 44",
  "45_54": "45 to 54",
  "55_64": "55 to 64",
  "65_74": "65 to 74",
  "75_up": "75 or more",
  "no_diploma": "no high school diploma",
  "associate": "associate degree",
  "bachelor": "bachelor's degree",
  "master": "master's degree",
  "professional": "professional degree",
  "doctoral": "doctorate",
  "full_time": "full-time",
  "part_time": "part-time",
  "self_employed": "self-employed",
  "0_1": "0 to 1",
  "2_4": "2 to 4",
  "5_9": "5 to 9",
  "10_13": "10 to 13",
  "14_17": "14 to 17",
  "6_up": "6 or more",
  "east_asian": "East Asian",
  "middle_eastern": "Middle Eastern",
  "multiple_other": "several or another",
  "south_asian": "South Asian",
  "east_europe": "Eastern Europe",
  "east_se_asia_other": "East or South-East Asia, or elsewhere",
  "latin_america": "Latin America",
  "mid_east_africa": "Middle East or Africa",
  "south_asia": "South Asia",
  "uk_ireland_anz": "UK, Ireland, Australia or New Zealand",
  "usa_canada": "USA or Canada",
  "west_europe": "Western Europe",
  "primary_or_none": "primary school or none",
  "secondary": "secondary school",
  "doctoral_professional": "doctorate or professional degree",
  "business_arts_social": "business, arts or social science",
  "computer_engineering": "computer or electrical engineering",
  "it_mis": "information technology or systems",
  "math_science": "mathematics or natural science",
  "other_engineering": "another field of engineering",
  "other_none": "another field, or none",
  "programming_web": "programming or web development",
  "looking": "looking for work",
  "not_looking": "not looking for work",
  "non_developer_codes": "programs, but not as a developer",
  "hobby_and_oss": "as a hobby and for open source",
  "oss": "for open source",
  "complicated": "it's complicated",
  "few_days_month": "a few days a month",
  "10000_up": "10,000 or more",
  "1000_9999": "1,000 to 9,999",
  "100_999": "100 to 999",
  "10_99": "10 to 99",
  "lt_10": "less than 10",
  "non_profit": "non-profit",
  "public_corp": "public company",
  "10_19": "10 to 19",
  "20_up": "20 or more",
  "3_5": "3 to 5",
  "6_9": "6 to 9",
  "lt_3": "less than 3",
  "q1": "lowest fifth",
  "q2": "second fifth",
  "q3": "middle fifth",
  "q4": "fourth fifth",
  "q5": "highest fifth",
  "mid": "medium",
  "active": "actively looking",
  "open": "open to offers",
  "neither": "neither too little nor too much",
  "over": "too much",
  "under": "too little",
  "10am": "10 am",
  "11am": "11 am",
  "7am": "7 am",
  "8am": "8 am",
  "9am": "9 am",
  "night_early": "at night or early in the morning",
  "noon_later": "noon or later"
};

export const VALUES_OF = {
  "region": {
    "northeast": "Northeast",
    "midwest": "Midwest",
    "south": "South",
    "west": "West"
  },
  "state": {
    "al": "Alabama",
    "ak": "Alaska",
    "az": "Arizona",
    "ar": "Arkansas",
    "ca": "California",
    "co": "Colorado",
    "ct": "Connecticut",
    "de": "Delaware",
    "dc": "District of Columbia",
    "fl": "Florida",
    "ga": "Georgia",
    "hi": "Hawaii",
    "id": "Idaho",
    "il": "Illinois",
    "in": "Indiana",
    "ia": "Iowa",
    "ks": "Kansas",
    "ky": "Kentucky",
    "la": "Louisiana",
    "me": "Maine",
    "md": "Maryland",
    "ma": "Massachusetts",
    "mi": "Michigan",
    "mn": "Minnesota",
    "ms": "Mississippi",
    "mo": "Missouri",
    "mt": "Montana",
    "ne": "Nebraska",
    "nv": "Nevada",
    "nh": "New Hampshire",
    "nj": "New Jersey",
    "nm": "New Mexico",
    "ny": "New York",
    "nc": "North Carolina",
    "nd": "North Dakota",
    "oh": "Ohio",
    "ok": "Oklahoma",
    "or": "Oregon",
    "pa": "Pennsylvania",
    "ri": "Rhode Island",
    "sc": "South Carolina",
    "sd": "South Dakota",
    "tn": "Tennessee",
    "tx": "Texas",
    "ut": "Utah",
    "vt": "Vermont",
    "va": "Virginia",
    "wa": "Washington",
    "wv": "West Virginia",
    "wi": "Wisconsin",
    "wy": "Wyoming"
  },
  "race": {
    "asian": "Asian",
    "other": "another, or several"
  },
  "partner": {
    "none": "no partner",
    "cohabit": "unmarried partner",
    "spouse": "husband or wife"
  },
  "home": {
    "own": "owned",
    "rent": "rented",
    "other": "neither owned nor rented"
  },
  "income": {
    "lt_15k": "less than $15,000",
    "15k_35k": "$15,000 to $35,000",
    "35k_60k": "$35,000 to $60,000",
    "60k_100k": "$60,000 to $100,000",
    "100k_150k": "$100,000 to $150,000",
    "150k_up": "$150,000 or more"
  },
  "work": {
    "employed": "has a job",
    "unemployed": "laid off or looking for a job",
    "not_working": "no job, and not looking for one"
  },
  "occupation": {
    "mgmt_biz_finance": "management, business or finance",
    "professional": "professional (science, teaching, health, law, arts)",
    "service": "service (care, food, cleaning, protection)",
    "office_admin": "office or administration",
    "farming_forestry_fishing": "farming, forestry or fishing",
    "construction": "construction or extraction",
    "install_repair_maint": "installation, maintenance or repair",
    "transport": "transport or moving goods"
  },
  "industry": {
    "agric_forestry_hunting": "farming, forestry, fishing or hunting",
    "manuf": "manufacturing",
    "trade": "wholesale or retail",
    "transport_util": "transport or utilities",
    "information": "media or telecommunications",
    "finance": "finance, insurance or real estate",
    "prof_biz_svcs": "professional or business services",
    "edu_health_svcs": "education or health",
    "hospitality": "leisure, hotels or restaurants",
    "public_admin": "public administration",
    "other": "other services"
  },
  "employer": {
    "private": "private company or organisation",
    "govt": "government",
    "without_pay": "family business, without pay"
  },
  "student": {
    "not_asked": "not asked (over 49)"
  },
  "youngest_child": {
    "none": "no child"
  },
  "household": {
    "1": "1 person",
    "2": "2 people",
    "3": "3 people",
    "4": "4 people",
    "5": "5 people",
    "6_up": "6 or more people"
  },
  "company_size": {
    "10000_up": "10,000 or more people",
    "1000_9999": "1,000 to 9,999 people",
    "100_999": "100 to 999 people",
    "10_99": "10 to 99 people",
    "lt_10": "fewer than 10 people"
  },
  "years_program": {
    "10_19": "10 to 19 years",
    "20_up": "20 or more years",
    "3_5": "3 to 5 years",
    "6_9": "6 to 9 years",
    "lt_3": "less than 3 years"
  },
  "years_job": {
    "10_19": "10 to 19 years",
    "20_up": "20 or more years",
    "3_5": "3 to 5 years",
    "6_9": "6 to 9 years",
    "lt_3": "less than 3 years"
  }
};
