"""Who asks what in `reticent demo`: invented, in the words of the shipped model.

Attributes that are not here are not set, and never leave.
"""

NAME = "Mara"

PROFILE = {
    "gender": "female",
    "region": "west_europe",
    "education": "bachelor",
    "major": "computer_science",
    "employment": "self_employed",
    "occupation": "developer",
    "student": "no",
    "hobby": "hobby_and_oss",
    "remote": "always",
    "years_program": "10_19",
    "career_sat": "high",
    "job_sat": "mid",
    "job_seeking": "open",
    "work_start": "10am",
    "dev_web": "yes",
    "dev_mobile": "no",
    "dev_desktop": "no",
    "dev_dba": "no",
    "dev_devops": "no",
    "dev_sysadmin": "no",
    "dev_embedded": "no",
    "dev_data": "yes",
    "dev_graphics": "no",
    "dev_design_qa": "no",
    "int_javascript": "yes",
    "int_sql": "yes",
    "int_java": "no",
    "int_dotnet": "no",
    "int_python": "yes",
    "int_php": "no",
    "int_c_cpp": "no",
    "int_ruby": "no",
    "int_apple": "no",
    "int_stats": "no",
    "int_systems": "no",
}

SEARCH, JOBS = "search.example", "jobs.example"

REQUESTS = (
    (SEARCH, "editor"),
    (SEARCH, "framework used"),
    (JOBS, "job site"),
    (SEARCH, "tabs/spaces"),
    (SEARCH, "knee pain"),
    (JOBS, "heard of job"),
    (SEARCH, "version control"),
    (JOBS, "benefits"),
)
