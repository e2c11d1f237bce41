"""A fictional developer, her facts as the one world of the shipped models names them."""

PROFILE = {
    "sex": "female",
    "region": "west_europe",
    "education": "bachelor's degree",
    "major": "computer_science",
    "employment": "self_employed",
    "occupation_so2017": "developer",
    "student": "no",
    "hobby": "hobby_and_oss",
    "remote": "always",
    "years_program": "10_19",
    "career_sat": "high",
    "job_sat": "mid",
    "job_seeking": "open",
    "work_start": "10am",
    **dict.fromkeys(("dev_web", "dev_data"), "yes"),
    **dict.fromkeys(("int_javascript", "int_sql", "int_python"), "yes"),
    **dict.fromkeys(("dev_mobile", "dev_desktop", "dev_dba", "dev_devops", "dev_sysadmin"), "no"),
    **dict.fromkeys(("dev_embedded", "dev_graphics", "dev_design_qa"), "no"),
    **dict.fromkeys(("int_java", "int_dotnet", "int_php", "int_c_cpp", "int_ruby"), "no"),
    **dict.fromkeys(("int_apple", "int_stats", "int_systems"), "no"),
}
