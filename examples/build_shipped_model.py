"""Build the model that comes with Reticent, from the tables in examples/data/so2017.

    python examples/build_shipped_model.py [MODEL]

Needs the extra `build`. The same tables give the same bytes.
"""

import sys
from pathlib import Path

from agent.build.build import build_model
from agent.build.options import BuildOptions
from agent.model.file import shipped_model, write

DATA = Path(__file__).parent / "data" / "so2017"
TITLES = {
    "gender": "gender",
    "race": "race or ethnicity",
    "region": "region of the world",
    "education": "highest level of education",
    "parents_education": "highest level of the parents' education",
    "major": "main field of study",
    "employment": "employment status",
    "occupation": "relation to programming",
    "student": "enrolled at a university",
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
    "int_systems": "interested in newer systems languages",
}


def main(path: Path) -> None:
    """Build the model and write it to a file."""
    options = BuildOptions(
        users=DATA / "users.csv.gz",
        events=DATA / "events.csv.gz",
        id="so2017",
        source="Stack Overflow Developer Survey 2017, the first 19,101 rows of the public results",
        licence="ODbL-1.0",
        titles=TITLES,
    )
    built = write(build_model(options, _tell), path)
    predicted, heldout = built.validation["predicted_bits"], built.validation["heldout_bits"]
    print(f"{path}: digest {built.digest}")
    print(f"predicted {predicted:.4f} bits, held out {heldout:.4f} bits per query")


def _tell(what: str, share: float) -> None:
    if share in {0.0, 1.0}:
        print(f"{what}: {share:.0%}", file=sys.stderr)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else shipped_model())
